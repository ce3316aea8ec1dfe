"""What a shell script gives each program that it starts, and the findings of such a text."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import field, replace
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.launches.placed import Placed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nanolint.diagnostics import Span
    from nanolint.launches.launch import Launch
    from nanolint.launches.placed import Piece


@dataclass(frozen=True, slots=True)
class Argument:
    """One word as a program gets it.

    ``unknown`` says why a part of ``text`` is not known; that part then stands as it is written:
    ``--batch_size=$BS``. ``place`` is where the word stands in the file, where that is one place.
    ``pieces`` are where its characters come from, which may be elsewhere: the value of a variable.
    """

    text: str
    unknown: str | None = None
    place: Span | None = None
    pieces: tuple[Piece, ...] = ()

    @property
    def placed(self) -> Placed:
        """Its text, and where that stands in the file."""
        return Placed(self.text, self.pieces)

    def since(self, start: int) -> Argument:
        """The word without its first ``start`` characters."""
        rest = self.placed.part(start)
        return replace(self, text=rest.text, pieces=rest.pieces)


def argument(placed: Placed, unknown: str | None = None, place: Span | None = None) -> Argument:
    """A word that is made of a text with its places."""
    return Argument(placed.text, unknown, place, placed.pieces)


@dataclass(frozen=True, slots=True)
class Started:
    """A program that a script starts, ``offset`` characters from its beginning.

    ``folder`` is where, relative to where the script starts, None where that is not known.
    ``written`` are the files that the script has written before; ``here`` is the text that the
    program reads.
    """

    offset: int
    arguments: tuple[Argument, ...]
    environment: Mapping[str, Argument] = field(default_factory=dict)
    folder: str | None = ""
    written: frozenset[str] = frozenset()
    here: Placed | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    """Where a script can be followed no further, and why."""

    offset: int
    reason: str


MOST_CHARACTERS = 1 << 18  # of a text; no launch script has more


@dataclass(frozen=True, slots=True)
class Found:
    """A launch line, or why the line cannot be judged.

    ``row`` counts from 1: in the file, or in the ``cell`` of a notebook, which count from 1, too.
    """

    row: int
    launch: Launch | None
    reason: str = ""
    cell: int | None = None

    @property
    def place(self) -> str:
        """Where it is, for people: ``12``, or ``cell 3:2``."""
        return str(self.row) if self.cell is None else f"cell {self.cell}:{self.row}"


@dataclass(frozen=True, slots=True)
class Line:
    """A program ``offset`` characters into a shell's text: what it launches, or why nothing.

    ``matters``: what it would launch is a run, if only it were known.
    """

    offset: int
    launch: Launch | None
    reason: str = ""
    matters: bool = True


class Rows:
    """The lines of a text, by their number from 1."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def row(self, offset: int) -> int:
        """The line that the character at ``offset`` stands in."""
        return bisect_right(self._starts, offset)


def once(found: Iterable[Found]) -> Iterator[Found]:
    """Each different run of a line once, whatever ways lead to it."""
    seen = set()
    for each in found:
        key = (each.cell, each.row, each.reason, repr(each.launch and _plain(each.launch)))
        if key not in seen:
            seen.add(key)
            yield each


def _plain(launch: Launch) -> Launch:
    """A launch without where its words come from."""
    words = tuple(replace(each, pieces=()) for each in launch.arguments)
    names = sorted(launch.environment.items())
    around = {name: replace(each, pieces=(), place=None) for name, each in names}
    return replace(launch, arguments=words, environment=around)
