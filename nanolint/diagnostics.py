"""What a rule reports: frozen, picklable data that holds no syntax tree."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from pathlib import Path


class Severity(str, Enum):
    """How bad a finding is. Only errors and warnings change the exit status."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Safety(str, Enum):
    """What a fix may change."""

    SAFE = "safe"  # same effective batch, same model, same schedule
    UNSAFE = "unsafe"  # changes numerics, model, data, or what other files inherit
    DISPLAY = "display"  # shown to the user, never applied


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range ``[start, end)`` of characters in the decoded text of one file."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, order=True)
class FlagSpan(Span):
    """A flag in the text of the launch line; ``in_file`` is where to point in the file instead."""

    in_file: Span


@dataclass(frozen=True, slots=True, order=True)
class BesideSpan(Span):
    """What stands in the file for the value of ``key``, which the file does not set."""

    key: str = field(compare=False)


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the characters ``[start, end)`` of the decoded text; ``start == end`` inserts."""

    start: int
    end: int
    replacement: str


@dataclass(frozen=True, slots=True)
class FileEdits:
    """Edits of another file, whose decoded text is ``text``."""

    path: Path
    text: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together, of one file and of those ``elsewhere``: all are applied, or none.

    ``safety`` is what the settings make of it. ``promises``: its rule calls it safe, so the fixer
    holds it to keeping the effective batch and the model's shape, whatever the settings say.
    ``follows`` are keys that other values are right for after the edits, which touch none of them.
    ``in_launch_line``: of the text that the launch line stands in, and not of the file.
    """

    title: str
    safety: Safety
    edits: tuple[Edit, ...]
    promises: bool = False
    follows: frozenset[str] = frozenset()
    in_launch_line: bool = False
    elsewhere: tuple[FileEdits, ...] = ()

    @property
    def placed(self) -> tuple[tuple[Path | None, Edit], ...]:
        """Every edit with the path of the other file that it is of, None for the file at hand."""
        others = ((file.path, edit) for file in self.elsewhere for edit in file.edits)
        return (*((None, edit) for edit in self.edits), *others)


@dataclass(frozen=True, slots=True)
class Related:
    """Another place in the same file that feeds a finding."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class QuotedPlace:
    """Where the value that a finding is about stands, outside the file that the finding is in.

    ``row`` counts from 1, ``start`` and ``end`` are characters of ``source``, the line there. On
    the command line, which is no file, there is neither ``path`` nor ``row``.
    """

    key: str
    path: Path | None
    row: int | None
    source: str
    start: int
    end: int

    def __str__(self) -> str:
        """In a word or two: ``train.py:72``, ``the command line``."""
        return "the command line" if self.path is None else f"{self.path.name}:{self.row}"


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of another file that a finding is about, and what it has to do with it."""

    path: Path
    row: int
    source: str  # the whole line
    message: str  # "keeps 2.30 GiB"

    def __str__(self) -> str:
        """``model.py:57 keeps 2.30 GiB: att = F.softmax(att, dim=-1)``."""
        return f"{self.path.name}:{self.row} {self.message}: {self.source.strip()}"

    @property
    def start(self) -> int:
        """The character of the line at which it has something."""
        return len(self.source) - len(self.source.lstrip())


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about one file.

    ``message`` is one line and stands alone, ``brief`` the same where there is room for a few words
    only; ``remedy`` is a clause on what would help, where the message does not say. ``notes`` are
    further lines for the full report (the numbers, why there is no fix, a corrected command line),
    ``details`` those that are shown on demand. ``trust`` (a ``nanolint.run.trust.Trust``) and
    ``doubts``, a line each, are set where it is about a run's memory. ``origin`` is where the value
    stands that it is about, where that is not in the file; ``span`` is beside which it would go.
    ``holders`` are the lines of the model that hold the memory that it is about.
    ``stops``: it ends the run; ``fits``: it says that the run fits.
    """

    code: str
    name: str
    severity: Severity
    message: str
    span: Span
    gpu: str | None = None
    fix: Fix | None = None
    notes: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    trust: str | None = None
    doubts: tuple[str, ...] = ()
    remedy: str = ""
    brief: str = ""
    details: tuple[str, ...] = ()
    origin: QuotedPlace | None = None
    holders: tuple[SourceLine, ...] = ()
    stops: bool = False
    fits: bool = False

    @property
    def line(self) -> str:
        """All that there is room for in one line: the message, the remedy, a place elsewhere."""
        return f"{self._with_remedy(self.message)}{self._place}"

    @property
    def lines(self) -> tuple[str, ...]:
        """For who sees the first line, and may open the rest: message and notes, remedy early."""
        if not self.brief:
            return (self.line, *self.notes)
        return (f"{self._with_remedy(self.brief)}{self._place}", self.message, *self.notes)

    def _with_remedy(self, text: str) -> str:
        return f"{text}; {self.remedy}" if self.remedy else text

    @property
    def _place(self) -> str:
        return f" ({self.origin.key}: {self.origin})" if self.origin else ""
