"""Which questions of the turn decide nothing about memory: ``lr = base if step < 100 else low``."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from nanolint.interpreter.counted import CountedReal
from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.values import Instance, Unknown
from nanolint.script import later
from nanolint.script.changes import jumps, leaves, loaded, stored
from nanolint.script.course import learning
from nanolint.script.reaching import reaches_card
from nanolint.source.python import of_node

if TYPE_CHECKING:
    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script


def sift(machine: Script, node: ast.stmt, frame: Frame, start: int) -> None:
    """Forget what a statement has asked, from the question ``start`` on, if all that it binds is
    fractions and texts, or nothing."""
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if all(_is_light(_bound(machine, each, frame)) for each in targets):
            del machine.asked[start:]
    elif isinstance(node, ast.Expr) and not reaches_card(machine, node, frame):
        del machine.asked[start:]


def returned(machine: Script, value: Value, start: int, events: int) -> None:
    """The same of a call that returns ``value``."""
    if isinstance(value, float) and len(machine.card.tape.events) == events:
        del machine.asked[start:]


class Branch:
    """The questions of a test, before one of its branches is read."""

    def __init__(self, machine: Script, node: ast.If, start: int) -> None:
        self._machine, self._node, self._start = machine, node, start
        self._stop = len(machine.asked)
        self._is_read = False  # the test holds
        self._before = self._now()

    def _now(self) -> tuple[object, ...]:
        """Returns the state that a branch may change: blocks on the card, and their holders."""
        machine = self._machine
        held = machine.turns.courses[-1].held() if machine.turns.courses else frozenset()
        return len(machine.card.tape.events), held, learning(machine)

    def chosen(self, frame: Frame, *, holds: bool, forced: bool) -> None:
        """One of them is to be read; ``forced`` although the test does not hold."""
        asked = self._machine.asked[self._start : self._stop]
        self._is_read = holds
        if forced:
            for each in {id(one.by): one for one in asked}.values():
                self._machine.turns.forces(each)
        elif not holds and isinstance(self._node.body[0], (ast.Break, ast.Return)):
            for each in asked:
                if not each.answer or isinstance(self._node.test, ast.UnaryOp):
                    each.ends = 2
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
        if not _decides(machine, node, frame):
            del machine.asked[self._start :]
            return
        is_as_before = self._is_read and ended is None and self._before == self._now()
        if is_as_before and not _stores(node, frame):
            machine.turns.do_nothing(machine.asked[self._start : self._stop])


def _decides(machine: Script, node: ast.If, frame: Frame) -> bool:
    """Whether memory, or how the program ends, may hang on which branch is taken."""
    return (
        leaves(node)
        or jumps(node)
        or _fails(node)
        or _stores(node, frame)
        or reaches_card(machine, node, frame)
        or any(_is_missing(name, frame) for name in loaded(node))
    )


def _is_missing(name: str, frame: Frame) -> bool:
    return frame.find(name) is MISSING and not hasattr(builtins, name)


@of_node
def _fails(node: ast.If) -> bool:
    return any(isinstance(each, (ast.Raise, ast.Assert)) for each in ast.walk(node))


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
