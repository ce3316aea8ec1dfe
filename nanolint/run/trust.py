"""How far a verdict is to be believed, and what it rests on that is not known."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


class Trust(str, Enum):
    """How far the numbers for one run are to be believed, most first."""

    EXACT = "exact"  # every piece is one whose tape equals PyTorch's own
    TRACED = "traced"  # a profile that was recorded from these very files
    READ = "read"  # the model was interpreted, every operation known
    DOUBTED = "doubted"  # something is not known, and is named
    UNKNOWN = "unknown"  # no number is given


class Subject(IntEnum):
    """What a doubt is about; the smaller, the more it matters."""

    SIZES = 0  # the micro-batch, the context, the model's shape, the accumulation
    PROCESSES = 1  # how many there are
    SCRIPT = 2  # which script runs the config
    MODEL = 3  # which class is built
    VOCABULARY = 4
    PIECE = 5  # a part of the model or of the loop that the replay does not know
    TORCH = 6  # the release of PyTorch
    ENVIRONMENT = 7  # a variable that PyTorch reads


# What settles a doubt about these.
OPTIONS = {
    Subject.PROCESSES: "--world-size N",
    Subject.SCRIPT: "--train-script PATH",
    Subject.VOCABULARY: "--set vocab_size=N",
}


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something that a verdict rests on and that is not known.

    ``text`` is a clause that says what, and needs nothing else to be understood: "get_batch is not
    nanoGPT's own". ``path`` and ``line`` (from 1) are where that is decided, None where there is no
    such place. ``settled_by`` are the options that would settle it, if there are any of its own.
    """

    subject: Subject
    text: str
    path: Path | None = None
    line: int | None = None
    settled_by: str = ""

    def __str__(self) -> str:
        """In one line, with the place: "get_batch is not nanoGPT's own (train.py:116)"."""
        if self.path is None:
            return self.text
        place = self.path.name if self.line is None else f"{self.path.name}:{self.line}"
        return f"{self.text} ({place})"


def least(trusts: Iterable[Trust]) -> Trust:
    """The least of ``trusts``, of which there is one at least."""
    return max(trusts, key=list(Trust).index)


def in_short(doubts: Sequence[Doubt]) -> str:
    """The first of the doubts, and how many there are beside it."""
    others = len(doubts) - 1
    more = f", and {others} more doubt{'s' if others > 1 else ''}" if others else ""
    return f"{doubts[0]}{more}"


def way_out(doubts: Iterable[Doubt], trace: str) -> str:
    """Returns what settles ``doubts``: options if all have some, else the command ``trace``."""
    options = [each.settled_by or OPTIONS.get(each.subject, "") for each in doubts]
    told = " ".join(dict.fromkeys(options)) if all(options) else trace
    return f"`{told}` settles it"


def ordered(doubts: Iterable[Doubt]) -> tuple[Doubt, ...]:
    """Each doubt once; those that matter most come first, else in the order in which they came."""
    return tuple(sorted(dict.fromkeys(doubts), key=lambda doubt: doubt.subject))
