"""Which questions of the turn decide nothing about memory: ``lr = base if step < 100 else low``.

A value may decide something later: ``if step in (5, 9): best = step`` does nothing on the card, but
``if best and step == best + 4`` may. So it is noted what such conditions ask for.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from nanolint.interpreter.counted import CountedReal
from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.values import (
    Class,
    Function,
    Instance,
    Namespace,
    Native,
    Unknown,
)
from nanolint.script import checked, flows, later
from nanolint.script.changes import jumps, leaves, loaded, stored
from nanolint.script.left import learning
from nanolint.script.reaching import reaches_card
from nanolint.source.python import of_node
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from nanolint.interpreter.counted import Noted
    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Place, Value
    from nanolint.script.machine import Script

HELD = (list, dict, tuple, set, Instance, Class, Native)  # what these are follows from too much


class Deciding:
    """Values that are asked for by statements which may do something on the card, or end the
    loop."""

    def __init__(self, machine: Script) -> None:
        self._machine = machine
        self.places: dict[str, Place] = {}  # of what is asked for, by its name in ``flows.py``
        self._met: set[ast.stmt] = set()
        self._flows = flows.Flows({}, {}, flows.NONE)
        self._looked_at: tuple[ast.AST, int] | None = None

    def meets(self, node: ast.stmt, frame: Frame) -> None:
        """A statement was run."""
        if node in self._met:
            return
        self._met.add(node)
        self._look()
        if isinstance(node, (ast.If, ast.While)):
            names = flows.tested(node)
        elif isinstance(node, ast.For):
            names = self._sizes(node.iter, frame)
        elif hasattr(node, "body") or isinstance(node, ast.Assert):
            return
        else:
            names = flows.tested(node) | self._sizes(node, frame)
        if names and decides(self._machine, node, frame):
            self._ask(names, frame)

    def _look(self) -> None:
        """Take the loop that is read, and what was imported since."""
        machine = self._machine
        seen = machine.turns.courses[0].node, len(machine.imported)
        if self._looked_at != seen:
            self._looked_at = seen
            self._flows = flows.around(seen[0], machine.trees())

    def _sizes(self, node: ast.AST, frame: Frame) -> frozenset[str]:
        """The whole numbers in a statement that a condition may set, and the texts."""
        names = flows.asked(node) & self._flows.branched
        return frozenset(each for each in names if isinstance(_plainly(each, frame), (int, str)))

    def _ask(self, names: frozenset[str], frame: Frame) -> None:
        values = {name: _plainly(name, frame) for name in names}
        light = [name for name, value in values.items() if not isinstance(value, (*HELD, Tensor))]
        found = flows.closed(light, self._flows.follows)
        found = {
            name
            for name in found.union(values)
            if not isinstance(_plainly(name, frame), (Tensor, Namespace, Function, Native))
        }
        self.places |= dict.fromkeys(found - self.places.keys(), self._machine.place)

    def asks_for(self, noted: Noted) -> bool:
        """Whether something hangs on the answer to a question."""
        return not noted.sets or not noted.sets.isdisjoint(self.places)

    def put_off(self, node: ast.AST, start: int) -> None:
        """All that ``node`` does is to set values: what it has asked, from the question ``start``
        on, matters once these are asked for."""
        sets = self._sets(node)
        if not sets:
            del self._machine.asked[start:]
        for each in self._machine.asked[start:]:
            each.sets |= sets

    def has_set(self, node: ast.AST) -> bool:
        """Whether something is asked for that ``node`` may set."""
        return not self._sets(node).isdisjoint(self.places)

    def _sets(self, node: ast.AST) -> frozenset[str]:
        """Returns the values that a statement sets, itself or in a function that it calls."""
        found, unseen = set(flows.written(node)), [f"({each}" for each in flows.calls(node)]
        while unseen:
            name = unseen.pop()
            if name not in found:
                found.add(name)
                wrote = self._flows.writes.get(name[1:], flows.NONE)
                unseen += [other for other in wrote if other[0] == "("]
                found.update(other for other in wrote if other[0] != "(")
        return frozenset(each for each in found if each[0] != "(")


def _plainly(name: str, frame: Frame) -> Value:
    """The value of a name; MISSING of an attribute or an entry."""
    return MISSING if name[0] in ".[" else frame.find(name)


def sift(machine: Script, node: ast.stmt, frame: Frame, start: int) -> None:
    """Forget what a statement has asked, from the question ``start`` on, if all that it binds is
    fractions and texts, or nothing, and none of it is asked for."""
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        bound = [_bound(machine, each, frame) for each in targets]
        clears = any(each is None for each in bound)  # == would look into a number
        if not all(map(_is_light, bound)) or (clears and reaches_card(machine, node, frame)):
            return
    elif not isinstance(node, ast.Expr) or reaches_card(machine, node, frame):
        return
    machine.turns.deciding.put_off(node, start)


def returned(machine: Script, function: Function, value: Value, start: int, events: int) -> None:
    """The same of a call that returns ``value``."""
    if isinstance(value, float) and len(machine.card.tape.events) == events:
        machine.turns.deciding.put_off(function.node, start)


class Branch:
    """The questions of a test, before one of its branches is read."""

    def __init__(self, machine: Script, node: ast.If, start: int) -> None:
        self._machine, self._node, self._start = machine, node, start
        self._stop = len(machine.asked)
        self._is_read = self._decides = False  # the test holds; something hangs on it
        self._before = self._now()

    def _now(self) -> tuple[object, ...]:
        """Returns the state that a branch may change: blocks on the card, and their holders."""
        machine = self._machine
        held = machine.turns.courses[-1].keeping.held() if machine.turns.courses else frozenset()
        return len(machine.card.tape.events), held, learning(machine)

    def chosen(self, frame: Frame, *, holds: bool, forced: bool) -> None:
        """One of them is to be read; ``forced`` although the test does not hold."""
        machine = self._machine
        asked = machine.asked[self._start : self._stop]
        self._is_read = holds
        self._decides = decides(machine, self._node, frame)  # what it clears holds nothing later
        if forced:
            for each in {id(one.by): one for one in asked}.values():
                machine.turns.forces(each)
        elif not holds and machine.turns.ends(self._node):
            for each in asked:
                if not each.answer or isinstance(self._node.test, ast.UnaryOp):
                    each.ends = 2
                    each.exits = checked.exits(self._node)
                    each.acts = each.exits or any(
                        reaches_card(machine, one, frame) for one in self._node.body
                    )
        elif not holds and self._only_evaluates(frame):
            for each in asked:
                each.evaluates = self._node

    def _only_evaluates(self, frame: Frame) -> bool:
        """Whether it evaluates, before the turn computes anything."""
        machine, body = self._machine, self._node.body
        has_computed = machine.turns.courses[-1].has_computed
        return not has_computed and any(later.evaluates(machine, each, frame) for each in body)

    def read(self, frame: Frame, ended: object) -> None:
        """It is read."""
        machine, node = self._machine, self._node
        stores = _stores(node, frame)
        if not (stores or self._decides or decides(machine, node, frame)):
            machine.turns.deciding.put_off(node, self._start)
            return
        is_as_before = self._is_read and ended is None and self._before == self._now()
        if is_as_before and not stores and not machine.turns.deciding.has_set(node):
            machine.turns.do_nothing(machine.asked[self._start : self._stop])


def decides(machine: Script, node: ast.stmt, frame: Frame) -> bool:
    """Whether memory, or how the program ends, may hang on which branch is taken."""
    return (
        leaves(node)
        or jumps(node)
        or _fails(node)
        or reaches_card(machine, node, frame)
        or any(_is_missing(name, frame) for name in loaded(node))
    )


def _is_missing(name: str, frame: Frame) -> bool:
    return frame.find(name) is MISSING and not hasattr(builtins, name)


@of_node
def _fails(node: ast.stmt) -> bool:
    return any(
        isinstance(each, (ast.Raise, ast.Assert))
        or (isinstance(each, ast.Expr) and checked.ends([each]) and getattr(each.value, "args", ()))
        for each in ast.walk(node)
    )


def _stores(node: ast.If, frame: Frame) -> bool:
    """Whether it sets what is more than a fraction or a text."""
    return _sets_attributes(node) or not all(_is_light(frame.find(name)) for name in stored(node))


@of_node
def _sets_attributes(node: ast.If) -> bool:
    return any(
        isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
        for each in ast.walk(node)
    )


def _bound(machine: Script, target: ast.expr, frame: Frame) -> Value:
    """Returns the value of a target; MISSING if it is not simply known."""
    if isinstance(target, ast.Name):
        return frame.find(target.id)
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        owner = frame.find(target.value.id)
        return owner.attributes.get(target.attr) if isinstance(owner, Instance) else MISSING
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        owner = machine.evaluate(target.value, frame)
        return owner.get(target.slice.value, MISSING) if isinstance(owner, dict) else MISSING
    return MISSING


def _is_light(value: Value) -> bool:
    return value is None or isinstance(value, (float, str, CountedReal, Unknown))
