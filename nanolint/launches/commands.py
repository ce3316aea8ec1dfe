"""What a shell script gives each program that it starts."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.diagnostics import Span


@dataclass(frozen=True, slots=True)
class Argument:
    """One word as a program gets it.

    ``unknown`` says why a part of ``text`` is not known; that part then stands as it is written:
    ``--batch_size=$BS``. ``place`` is where the word stands in the text, where that is one place;
    ``literal``: it stands there letter by letter, without quotes and variables.
    """

    text: str
    unknown: str | None = None
    place: Span | None = None
    literal: bool = False


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
    here: str | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    """Where a script can be followed no further, and why."""

    offset: int
    reason: str
