"""Loops that only work out numbers: once none of these is known, more turns tell nothing more.

``for j in range(i + 1, n): if values[i] > values[j]: inversions += 1`` has n turns for each i.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.interpreter.counted import Turn
from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.values import Unknown
from nanolint.script.carried import Carried, set_first
from nanolint.script.changes import called, stored
from nanolint.script.flows import written
from nanolint.script.forgetting import forget_all
from nanolint.source.python import of_node

if TYPE_CHECKING:
    from nanolint.interpreter.scopes import Frame
    from nanolint.script.machine import Script

STATEMENTS = (ast.Assign, ast.AugAssign, ast.If, ast.Pass)
EXPRESSIONS = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Constant, ast.Name),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context, ast.Tuple),
)
BUILT_IN = frozenset({"abs", "enumerate", "float", "int", "len", "max", "min", "range", "zip"})


def is_over(machine: Script, node: ast.For, frame: Frame) -> bool:
    """Whether a loop only works out numbers, of which none is known by now; then nothing that it
    sets is known, whatever its other turns set."""
    names = _worked_out(node)
    if names is None or any(frame.find(name) is not MISSING for name in called(node)):
        return False
    found = [frame.find(name) for name in names]
    if not found or not all(isinstance(each, Unknown) for each in found):
        return False
    forget_all(machine, node, frame, found[0].bare())
    return True


@of_node
def _worked_out(node: ast.For) -> tuple[str, ...] | None:
    """The names that a loop sets to numbers; None where it may do anything else."""
    targets: set[str] = set()
    unseen: list[ast.AST] = [node]
    while unseen:
        each = unseen.pop()
        if isinstance(each, ast.For):
            targets |= set(stored(each.target))
        elif isinstance(each, ast.Call):
            if not isinstance(each.func, ast.Name) or each.func.id not in BUILT_IN:
                return None
        elif isinstance(each, ast.Subscript):
            if not isinstance(each.ctx, ast.Load):
                return None
        elif not isinstance(each, (STATEMENTS + EXPRESSIONS)):
            return None
        unseen += ast.iter_child_nodes(each)
    return tuple(name for name in stored(node) if name not in targets)


class LeftOut:
    """Turns were left out: what counts them is not as in the run, unless another turn leaves all
    numbers as they were."""

    def __init__(self, machine: Script, node: ast.For, frame: Frame) -> None:
        self._machine, self._known = machine, machine.made_up.known
        self._carried = Carried(machine, node, frame, Turn(machine.asked, lambda: machine.place))
        self._own = written(node.target) | set_first(node)
        self._before = self._numbers()
        machine.made_up.lose()

    def _numbers(self) -> dict[object, object]:
        return {
            (slot.path, slot.name): slot.names[slot.name]
            for slot in self._carried.slots()
            if type(slot.names[slot.name]) in (int, float) and slot.name not in self._own
        }

    def look_again(self) -> None:
        """Another turn was read."""
        if self._numbers() == self._before:
            self._machine.made_up.known = self._known
