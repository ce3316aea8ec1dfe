"""Values that turns of a loop hand on to the next: a flag, the best step, milestones that are left.

Those that are asked for by what decides something (``deciding.py``) are part of the state in which
a turn begins, once a turn has changed them. A number that goes on counting is no other value, and
neither is one that each turn works out of its own number alike; to begin anew is a change.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.interpreter.counted import COUNTED, Formula, Turn, plain
from nanolint.interpreter.torch import modules
from nanolint.interpreter.values import Class, Instance, Namespace
from nanolint.interpreter.watched import Watched, look
from nanolint.script.changes import loaded, stored
from nanolint.script.flows import written
from nanolint.source.python import nodes, of_node
from nanolint.tape.symbolic import Symbolic
from nanolint.tape.symbolic import plain as unnoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

DEPTH = 3  # of what holds what
OFTEN = 3  # changes of what is true or false, in the turns of a loop within this one
FEW = 32  # elements of one that is looked into
LIGHT = frozenset({int, bool, str, float, type(None), Symbolic, Watched, *COUNTED})

Key = tuple[str, Any]
NONE_PASSED = frozenset[tuple[int, Any]]()
Handed = frozenset[Any]  # the values of a state


class Slot(NamedTuple):
    """The place of a value: a name of ``names``. ``idents`` are its names in ``flows.py``, with
    those of the dictionary or list that holds it."""

    path: str
    names: dict[Any, Value]
    name: Any
    idents: tuple[str, ...]


class Carried:
    """The values around a loop, from turn to turn."""

    def __init__(
        self, machine: Script, node: ast.For | ast.While, frame: Frame, turn: Turn
    ) -> None:
        self._machine, self._frame, self._turn = machine, frame, turn
        self._own = frozenset((id(frame.names), name) for name in set_first(node))
        self._passed = NONE_PASSED
        self._values: dict[Key, tuple[Any, Formula | None]] | None = None
        self._at = -1  # the turn before which these were
        self._strides: dict[Key, int] = {}  # by which whole numbers grow
        self._moved: dict[Key, tuple[str, ...]] = {}  # what was changed, with its idents
        self._regular: set[Key] = set()
        self._changes: dict[tuple[int, Any], int] = {}
        self._watched: dict[Key, Watched] = {}

    def now(self) -> Handed:
        """Returns those that are asked for, as the next turn begins."""
        before, self._values = self._values, {}
        self._regular.clear()
        tokens = {}
        self._watched.clear()
        for slot in self.slots(self._own.union(self._machine.turns.restless)):
            key, value = (slot.path, slot.name), slot.names[slot.name]
            if type(value) is Watched:
                self._watched[key] = value
                value = float.__pos__(value)
            sample = self._values[key] = self._sample(value)
            old = None if before is None else before.get(key)
            if old is None and before is None:
                continue
            tokens[key] = self._token(slot, old, *sample)
        for key in (before or {}).keys() - tokens.keys():
            self._moved.setdefault(key, ())
        self._at = self._turn.number
        asked = self._machine.turns.deciding.places
        found = [key for key, each in self._moved.items() if not asked.keys().isdisjoint(each)]
        look(each for each in map(self._watched.get, found) if each is not None)
        return frozenset((key, tokens.get(key)) for key in found)

    def leaves(self) -> None:
        """The loop is left: a flag that its turns set to and fro is no state of loops around it."""
        often = (each for each, changes in self._changes.items() if changes >= OFTEN)
        self._machine.turns.restless.update(often)

    def is_regular(self, path: str, name: Any) -> bool:
        """Whether the last two turns worked a value out of their numbers alike."""
        return (path, name) in self._regular

    def changed(self, one: Handed, other: Handed) -> str:
        """Returns the place that asks for a value which differs between two states."""
        places = self._machine.turns.deciding.places
        for key, _ in sorted(one ^ other, key=repr):
            for each in self._moved.get(key, ()):
                if each in places:
                    return str(places[each])
        return ""

    def _sample(self, value: Value) -> tuple[Any, Formula | None]:
        """A value as it can be compared, and the formula of one that this turn worked out."""
        formula = None
        if type(value) in COUNTED:
            if value.turn is self._turn and value.number == self._turn.number:
                formula = value.formula
            value = plain(value)
        elif isinstance(value, (list, tuple, set)):
            found = [unnoted(plain(each)) if type(each) in LIGHT else None for each in value]
            value = frozenset(found) if isinstance(value, set) else tuple(found)
        return unnoted(value), formula

    def _token(
        self,
        slot: Slot,
        old: tuple[Any, Formula | None] | None,
        value: Any,
        formula: Formula | None,
    ) -> Any:
        """Returns a mark that tells a value from others; one that goes on as before keeps it."""
        turn, key = self._turn.number, (slot.path, slot.name)
        if old is not None and type(value) is type(old[0]):
            stride, number, earlier = self._strides.get(key, 0), 0, 0
            if type(value) is int:
                number, earlier = value, old[0]
                is_multiple = formula is not None and formula[0] == "turn"
                stride = formula[1] if formula is not None and is_multiple else stride
            elif type(value) is tuple:
                number, earlier = len(value), len(old[0])
            grown = number - earlier
            if stride and grown == stride * (turn - self._at):
                self._strides[key] = stride
                return "line", stride, number - stride * (turn + 1)
            if grown and turn - self._at == 1:
                self._strides[key] = grown
            else:
                self._strides.pop(key, None)
            if not stride and (value == old[0] or _counts(slot.names[slot.name], self._turn)):
                return value
            if formula is not None and formula == old[1]:
                self._regular.add(key)
                return "formula", formula
        self._moved[key] = slot.idents
        if old is not None and type(value) is bool:
            place = id(slot.names), slot.name
            self._changes[place] = self._changes.get(place, 0) + 1
        return value

    def slots(self, passed: frozenset[tuple[int, Any]] = NONE_PASSED) -> Iterator[Slot]:
        """The places of numbers, texts, true, false and None, and of lists of such, except those
        that are ``passed`` over."""
        self._passed = passed
        seen: set[int] = set()
        for depth, names in enumerate(around(self._frame)):
            yield from self._within(f"{depth}", names, "", (), seen, DEPTH)
        for module in list(self._machine.imported.values()):
            is_known = isinstance(module, Namespace)  # sys.modules takes anything
            if is_known and module.path and module is not self._frame.module:
                yield from self._within(module.name, module.names, "", (), seen, 1)

    def _within(
        self,
        path: str,
        names: dict[Any, Value],
        sign: str,
        held_by: tuple[str, ...],
        seen: set[int],
        depth: int,
    ) -> Iterator[Slot]:
        if id(names) in seen:
            return
        seen.add(id(names))
        for name, value in list(names.items()):
            kind = type(value)
            if (id(names), name) in self._passed:
                continue
            if kind in LIGHT:
                yield Slot(path, names, name, (f"{sign}{name}", *held_by))
            elif kind is Instance:
                deeper = 0 if modules.is_module(value) else depth - 1
                if depth:
                    yield from self._within(
                        f"{path}.{name}", value.attributes, ".", (), seen, deeper
                    )
            elif kind is Class and depth and value.module.path:
                yield from self._within(f"{path}.{name}", value.names, ".", (), seen, 0)
            elif isinstance(value, (list, tuple, set, dict)) and len(value) < FEW and depth:
                idents = f"{sign}{name}", *held_by
                if isinstance(value, dict):
                    yield from self._within(f"{path}.{name}", value, "[", idents, seen, depth - 1)
                elif value and all(type(each) in LIGHT for each in value):
                    yield Slot(path, names, name, idents)
                elif kind is list:
                    listed = {
                        at: each
                        for at, each in enumerate(value)
                        if isinstance(each, (Instance, dict, list))
                    }
                    yield from self._within(f"{path}.{name}", listed, "[", idents, seen, depth - 1)


@of_node
def set_first(node: ast.For | ast.While) -> frozenset[str]:
    """The names that each turn of a loop sets before it asks for them: nothing is handed on."""
    loops = (each.target for each in nodes(node) if isinstance(each, ast.For))
    found = frozenset().union(*map(written, loops))
    before = set[str]()
    for each in node.body:
        before |= {name for name in loaded(each) if name not in found}
        if isinstance(each, ast.Assign):
            found |= {name for name in stored(each) if name not in before}
    return found


def _counts(value: Value, turn: Turn) -> bool:
    """Whether a loop within this one has just counted a value on."""
    if type(value) not in COUNTED or value.turn is turn:
        return False
    return bool(value.number == value.turn.number)


def around(frame: Frame) -> list[dict[str, Value]]:
    """The names of a module, and those of the call that is run in it and of the calls around."""
    found = [frame.module.names]
    each: Frame | None = frame
    while each is not None:
        found += [each.names] if each.names is not found[0] else []
        each = each.closure
    return found
