"""What a name of a script can stand for, as far as it is known before the run."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.source.values import Plain


@dataclass(frozen=True, slots=True)
class Just:
    """A plain value. ``key`` names the setting whose value it is, unchanged."""

    value: Plain
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Mystery:
    """Only a run would tell; ``line`` (from 1) is where the reason stands, 0 for a setting."""

    reason: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Named:
    """A module, a class or a function, by its full name: ``torch.compile``, ``model.GPT``."""

    name: str


@dataclass(frozen=True, slots=True)
class Row:
    """A tuple or a list."""

    items: tuple[Thing, ...]


@dataclasses.dataclass(slots=True)
class Table:
    """A dictionary, or the attributes of an object. ``rest`` says why it may hold more."""

    entries: dict[object, Thing] = field(default_factory=dict)
    rest: Mystery | None = None

    def get(self, key: object) -> Thing | None:
        """The entry, or why it may be anything; None: there is none."""
        return self.entries.get(key, self.rest)


@dataclass(frozen=True, slots=True)
class Built:
    """What a call of a class or of an unknown function gave: ``GPT(gptconf)``."""

    callee: str
    arguments: tuple[Thing, ...]
    fields: Table
    line: int


Thing: TypeAlias = "Just | Mystery | Named | Row | Table | Built"


def merged(one: Thing | None, other: Thing | None, doubt: Callable[[], Mystery]) -> Thing:
    """What a name stands for below an ``if`` of which only a run tells which branch is taken."""
    if one is not None and one == other:
        return one
    if isinstance(one, Table) and isinstance(other, Table):
        return _merged_tables(one, other, doubt)
    if isinstance(one, Built) and isinstance(other, Built) and _are_alike(one, other):
        pairs = zip(one.arguments, other.arguments, strict=True)
        arguments = tuple(merged(left, right, doubt) for left, right in pairs)
        fields = _merged_tables(one.fields, other.fields, doubt)
        return Built(one.callee, arguments, fields, one.line)
    return doubt()


def _are_alike(one: Built, other: Built) -> bool:
    return one.callee == other.callee and len(one.arguments) == len(other.arguments)


def _merged_tables(one: Table, other: Table, doubt: Callable[[], Mystery]) -> Table:
    keys = {**one.entries, **other.entries}
    entries = {key: merged(one.get(key), other.get(key), doubt) for key in keys}
    return Table(entries, one.rest or other.rest)
