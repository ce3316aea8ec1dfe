"""What a shell script gives each program that it starts."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.launches.placed import Placed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.diagnostics import Span
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
