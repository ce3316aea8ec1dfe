"""What is found in a text with launch lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.launches.launch import Launch

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
