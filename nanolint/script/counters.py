"""Numbers that count on from turn to turn of a loop: the step, the tokens so far, a list's length.

A number that grew by the same in turns that followed each other goes on so. In turns that are read
later it is what it would be by then, with a formula of the turn.
"""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

from nanolint.interpreter.counted import COUNTED, Length, Turn, plain
from nanolint.interpreter.torch import modules
from nanolint.interpreter.values import Instance
from nanolint.script import when
from nanolint.script.carried import around
from nanolint.script.flows import NONE, written
from nanolint.script.left import counted_in
from nanolint.tape.symbolic import Symbolic
from nanolint.tape.symbolic import plain as unnoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value
    from nanolint.script.carried import Carried
    from nanolint.script.machine import Script

WHOLE = frozenset({int, Symbolic, *COUNTED})
FEW = 32  # entries of a dictionary that is looked into
LINE = 3  # turns that tell that a number grows by the same

Key = tuple[int, Any]
Slot = tuple[dict[Any, Any], Any]


class Counters:
    """The numbers around one run of a loop. ``within``: a loop in a turn has counted some."""

    def __init__(
        self,
        machine: Script,
        node: ast.For | ast.While,
        frame: Frame,
        turn: Turn,
        carried: Carried,
    ) -> None:
        self._machine, self._node, self._frame = machine, node, frame
        self._turn, self._carried = turn, carried
        self._targets = written(node.target) if isinstance(node, ast.For) else NONE
        self._slots: dict[Key, list[tuple[int, Any]]] = {}
        self._sizes: dict[int, list[tuple[int, Any]]] = {}
        self._grows: dict[int, tuple[int, int]] = {}
        self._lines: dict[Key, tuple[Slot, Any, Any]] = {}  # the slope and the start of each
        self._paths: dict[Key, str] = {}
        self._turns: list[int] = []
        self._within: dict[Key, tuple[Slot, Any, Any]] = {}  # lines, from what one turn tells

    @property
    def are_asked(self) -> bool:
        """Whether something is asked for that loops within this one count, and that goes on in a
        way which is not known."""
        asked = self._machine.turns.deciding.places
        names = (name for _, name in self._within)
        return not self.are_known and any(
            f"{sign}{name}" in asked for name in names for sign in ("", ".", "[")
        )

    @property
    def are_known(self) -> bool:
        """Whether it is told by turns how all goes on that loops within this one count."""
        first = list(range(LINE))
        return (
            not self._within
            or self._turns[:LINE] == first
            or self._within.keys() <= self._lines.keys()
        )

    def begins(self, number: int, before: int) -> None:
        """A turn begins, after the turn ``before``."""
        self._turns.append(number)
        if number != before + 1:
            self._lines = {**self._within, **self._lines}
        for key, (slot, slope, start) in list(self._lines.items()):
            names, name = slot
            # Untouched except by the turn that was read, or by what yields the next number.
            turns = (before + 1, len(self._turns) - 1 if name in self._targets else before + 1)
            expected = [unnoted(slope * turn + start) for turn in turns]
            if unnoted(plain(names.get(name))) not in expected:
                del self._lines[key]
                continue
            names[name] = self._counted(slope, start, slope * number + start)
        if not number:
            for name, slope in counted_in(self._node):
                self._begin(self._frame.names, name, slope)
        for path, names, name, _ in list(self._carried.slots()):
            key, counted = (id(names), name), names[name]
            if type(counted) not in WHOLE:
                continue
            self._paths[key] = path
            if key in self._lines:
                continue
            slope = self._machine.turns.slopes.get((self._node, path, name))
            if not number and slope is not None:  # as in a run before
                self._begin(names, name, slope)
                continue
            if type(counted) in COUNTED and counted.turn is self._turn:
                if counted.number == number:
                    continue  # the loop's own
                names[name] = plain(counted)
                if counted.number == before and self._carried.is_regular(path, name):
                    names[name] = self._of_turn_before(counted)
                    continue
            value = plain(counted)
            if type(unnoted(value)) is not int:
                continue
            self._slots[key] = history = [*self._slots.get(key, [])[1 - LINE :], (number, value)]
            if _is_line(history):
                slope = value - history[1][1]
                start = value - slope * number
                self._lines[key] = (names, name), slope, start
                names[name] = self._counted(slope, start, value)
        self._measure(number)

    def _begin(self, names: dict[Any, Value], name: Any, slope: int) -> None:
        """A number is known to grow by ``slope`` in each turn, the first of which begins."""
        value = plain(names.get(name))
        if type(unnoted(value)) is int:
            self._lines[id(names), name] = (names, name), slope, value
            names[name] = self._counted(slope, value, value)

    def goes_to(self, turn: Any) -> None:
        """The turn is not read to its end: let numbers be what they are when ``turn`` begins."""
        now = self._turn.number
        for (names, name), slope, start in self._lines.values():
            known = unnoted(plain(names.get(name))) - unnoted(slope * now + start)
            if name not in self._targets and known in (0, unnoted(slope)):
                before = turn - 1 - now  # the formula is that of the turn which is read
                names[name] = self._counted(
                    slope, start + slope * (before + 1), slope * turn + start
                )

    def leaves(self, count: int | None, outer: Counters | None) -> None:
        """The loop is left, which has ``count`` turns; ``outer`` are those of the one around."""
        for key, (slot, slope, start) in self._lines.items():
            if type(slope) is int and key in self._paths:
                self._machine.turns.slopes[self._node, self._paths[key], slot[1]] = slope
            if outer is not None and count is not None and slot[1] not in self._targets:
                outer._goes_on(key, slot, slope * count, start)

    def _goes_on(self, key: Key, slot: Slot, slope: Any, start: Any) -> None:
        """A loop in this turn is left, which has counted a number by ``slope``, from ``start``."""
        names, name = slot
        number, value = self._turn.number, plain(names.get(name))
        _, known, first = self._lines.get(key, (None, None, None))
        if known is None:
            turn, first = self._slots.get(key, [(None, None)])[-1]
            is_same = turn == number and unnoted(first) == unnoted(start)
        else:
            is_same = unnoted(known * number + first) == unnoted(start)
        if is_same and unnoted(value) == unnoted(start + slope):
            self._within[key] = slot, slope, start - slope * number
            names[name] = self._counted(slope, value - slope * number, value)

    def _measure(self, number: int) -> None:
        """Lists that grow by the same in turns that follow each other."""
        self._machine.growing.clear()
        for _, names in holders(self._frame):
            for value in list(names.values()):
                if isinstance(value, list):
                    history = [*self._sizes.get(id(value), [])[1 - LINE :], (number, len(value))]
                    self._sizes[id(value)] = history
                    if _is_line(history):
                        slope = history[2][1] - history[1][1]
                        self._grows[id(value)] = slope, len(value) - slope * number
                    if id(value) in self._grows:
                        slope, start = self._grows[id(value)]
                        length = Length(self._turn, slope, start, len(value))
                        self._machine.growing[id(value)] = length

    def _of_turn_before(self, counted: Any) -> Any:
        """Returns a number that each turn works out of its own alike, as the turn before has it."""
        formula = when.shifted(counted.formula)
        try:
            found = when.value(formula, self._turn.number, self._turn.symbols)
        except when.FAILURES:
            return plain(counted)
        return self._turn.made(found, formula)

    def _counted(self, slope: Any, start: Any, value: Any) -> Any:
        """A number that grows by ``slope`` a turn."""
        if type(slope) is int and type(start) is int:
            return self._turn.made(value, ("turn", slope, start, True))
        by = self._turn.formula(slope), self._turn.formula(start)
        multiple = "of", operator.mul, ("turn", 1, 0, True), by[0]
        return self._turn.made(value, ("of", operator.add, multiple, by[1]))


def holders(frame: Frame) -> Iterator[tuple[str, dict[Any, Value]]]:
    """The names of calls and modules, and what has attributes and entries among their values, each
    with what it is called by."""
    for depth, names in enumerate(around(frame)):
        yield f"{depth}", names
        for name, value in list(names.items()):
            if type(value) is Instance and not modules.is_module(value):
                yield f"{depth}.{name}", value.attributes
            elif type(value) is dict and len(value) < FEW:
                yield f"{depth}.{name}", value


def _is_line(history: list[tuple[int, Any]]) -> bool:
    """Whether a number grew by the same in the last three turns, which followed each other."""
    if len(history) < LINE or history[2][0] - history[0][0] != LINE - 1:
        return False
    first, second, third = (unnoted(each) for _, each in history)
    return bool(third - second == second - first != 0)
