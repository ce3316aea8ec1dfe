"""Loops whose turns are not counted: each may end early, or they only work out numbers.

Whether ``if row in seen: continue`` ends a turn only a run tells. Such turns are read to the end;
how many elements they put into lists, and what they count, is not known after them.
``while len(rows) < count`` ends with so many rows whatever its turns do.

``for j in range(i + 1, n): if values[i] > values[j]: inversions += 1`` has n turns for each i: once
none of the numbers is known, more turns tell nothing more.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.interpreter.counted import Turn
from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.values import Instance, Unknown, Unread
from nanolint.interpreter.watched import Index
from nanolint.script.carried import Carried, set_first
from nanolint.script.changes import called, changed, changed_of, stored
from nanolint.script.flows import NONE, asked, written
from nanolint.script.reaching import forget_all, holds_card, reaches_card, rebind, trains
from nanolint.source.python import nodes, of_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

CONTAINERS = (list, dict, set)
MOST = 1_000_000  # elements


def forget_counted(machine: Script, node: ast.For | ast.While, frame: Frame, why: Unknown) -> None:
    """Makes unknown what a loop counted and put into lists, as its turns may have ended earlier.

    One that trains, or that learns nothing, is taken for its longest.
    """
    if not machine.card.grad_enabled or trains(node, frame):
        return
    full = filled_to(node)
    for name in _counters(node):
        value = frame.find(name)
        if isinstance(value, (int, float)):
            frame.store(name, Index(why.reason, why.place, object()))
    for name in changed(node):
        if name != (full and full[0]) and isinstance(frame.find(name), CONTAINERS):
            _check(machine, frame.find(name), why)
            rebind(frame, name, why)
    for owner, attribute in changed_of(node):
        holder = frame.find(owner)
        held = holder.attributes.get(attribute) if isinstance(holder, Instance) else None
        if isinstance(held, CONTAINERS):
            _check(machine, held, why)
            machine.set_attribute(holder, attribute, why)


def _check(machine: Script, container: Value, why: Unknown) -> None:
    """Raise Unread where a container holds something on the card: how much is not known."""
    if holds_card(machine, container):
        error: Unread = why.unread()
        error.decided = True
        raise error


def filled(machine: Script, node: ast.stmt, frame: Frame) -> tuple[str, list[Value]] | None:
    """Returns the list that ``while len(rows) < count: ... rows.append(row)`` ends with, if its
    turns cannot be read: so many rows, each as the last that was made. None for any other
    statement."""
    full = filled_to(node) if isinstance(node, ast.While) else None
    if full is None:
        return None
    name, count, added = full
    found = machine.evaluate(count, frame)
    row = frame.find(added.id) if isinstance(added, ast.Name) else MISSING
    if type(found) is not int or not 0 < found <= MOST or row is MISSING:
        return None
    machine.bounded(found)
    return name, [row] * found


@of_node
def filled_to(node: ast.For | ast.While) -> tuple[str, ast.expr, ast.expr] | None:
    """The list that a loop fills to a number of elements, one in a turn at most; the number, and
    what it puts there."""
    test = node.test if isinstance(node, ast.While) else None
    if not isinstance(test, ast.Compare) or [type(each) for each in test.ops] != [ast.Lt]:
        return None
    counted, count = test.left, test.comparators[0]
    given = counted.args if isinstance(counted, ast.Call) else []
    name = given[0].id if len(given) == 1 and isinstance(given[0], ast.Name) else ""
    if not _is_length(counted, name) or not isinstance(count, (ast.Name, ast.Constant)):
        return None
    named = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name]
    appended = list(_appended(node.body, name))
    asked = [each for each in ast.walk(node) if _is_length(each, name)]
    is_all = len(named) == len(appended) + len(asked)
    added = appended[0].args if len(appended) == 1 else []
    return (name, count, added[0]) if is_all and len(added) == 1 else None


def _appended(body: list[ast.stmt], name: str) -> Iterator[ast.Call]:
    """The calls of ``name.append`` that a turn makes once at most."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _appended([*statement.body, *statement.orelse], name)
            continue
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func) == f"{name}.append":
            yield call


def _is_length(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node) == f"len({name})"


@of_node
def _counters(node: ast.stmt) -> tuple[str, ...]:
    """The names that a loop works out from themselves: ``count += 1``."""
    counted = (each.target for each in ast.walk(node) if isinstance(each, ast.AugAssign))
    return tuple(dict.fromkeys(each.id for each in counted if isinstance(each, ast.Name)))


def only_stops(machine: Script, node: ast.If, frame: Frame) -> bool:
    """Whether all that a branch does is to ask for the end of the loop that trains, such as
    ``if elapsed > limit: stop_at = step``.

    The run is read as one that nobody stops: what the loop does at its end it does in that one too,
    and it ends no later.
    """
    if not machine.turns.courses or node.orelse:
        return False
    loop, sets = machine.turns.courses[-1].node, written(node)
    if node not in nodes(loop) or any(reaches_card(machine, each, frame) for each in node.body):
        return False
    if any(each[0] in ".[" for each in sets):  # an attribute or an entry, asked for anywhere
        return False
    within = [each for each in nodes(loop) if isinstance(each, ast.stmt)]
    told = _told_by(machine, sets, within)
    asking = [each for each in within if told & _asked(each)]
    ends = [
        each
        for each in asking
        if each is loop or (isinstance(each, ast.If) and machine.turns.ends(each))
    ]
    return bool(ends) and all(
        each in ends or _is_read(machine, each) or not reaches_card(machine, each, frame)
        for each in asking
    )


def _told_by(machine: Script, told: frozenset[str], within: list[ast.stmt]) -> frozenset[str]:
    """These names, and all that follows from them in the statements of a loop."""
    before = NONE
    while told != before:
        before = told
        for each in within:
            is_choice = isinstance(each, ast.If) and not _is_read(machine, each)
            if (is_choice or isinstance(each, ast.Assign)) and told & _asked(each):
                told |= frozenset(stored(each))
    return told


def _asked(node: ast.stmt) -> frozenset[str]:
    """The names that a statement asks for, without those that its body does."""
    if isinstance(node, (ast.If, ast.While)):
        return asked(node.test)
    return NONE if hasattr(node, "body") else asked(node)


def _is_read(machine: Script, node: ast.stmt) -> bool:
    """Whether it is a branch that other turns take as well."""
    return isinstance(node, ast.If) and not node.orelse and id(node) in machine.taken


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
