"""What a rule reports: frozen, picklable data that holds no syntax tree."""

from __future__ import annotations

from enum import Enum

from nanolint.frozen import dataclass


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
class Edit:
    """Replace the characters ``[start, end)`` of the decoded text; ``start == end`` inserts."""

    start: int
    end: int
    replacement: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits of one file that belong together: all are applied, or none.

    ``safety`` is what the settings make of it. ``promises``: its rule calls it safe, so the fixer
    holds it to keeping the effective batch and the model's shape, whatever the settings say.
    ``in_launch_line``: of the text that the launch line stands in, and not of the file.
    """

    title: str
    safety: Safety
    edits: tuple[Edit, ...]
    promises: bool = False
    in_launch_line: bool = False


@dataclass(frozen=True, slots=True)
class Related:
    """Another place in the same file that feeds a finding."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about one file.

    ``message`` is one line and stands alone, ``brief`` the same where there is room for a few words
    only; ``remedy`` is a clause on what would help, where the message does not say. ``notes`` are
    further lines for the full report (the numbers, why there is no fix, a corrected command line),
    ``details`` those that are shown on demand. ``trust`` (a ``nanolint.run.trust.Trust``) and
    ``doubts``, a line each, are set where it is about a run's memory.
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

    @property
    def line(self) -> str:
        """All that there is room for in one line: the message and the remedy."""
        return f"{self.message}; {self.remedy}" if self.remedy else self.message

    @property
    def lines(self) -> tuple[str, ...]:
        """For who sees the first line, and may open the rest: message and notes, remedy early."""
        if not self.brief:
            return (self.line, *self.notes)
        return (f"{self.brief}; {self.remedy}", self.message, *self.notes)
