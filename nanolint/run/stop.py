"""A run that is known to stop: what it raises, where, and when."""

from __future__ import annotations

from enum import Enum

from nanolint.frozen import dataclass


class Cause(str, Enum):
    """Why a run stops: each has a rule of its own."""

    OPERANDS = "operands"  # PyTorch refuses shapes, types or devices
    INDEX = "index"  # beyond a table
    GRAPH = "graph"  # autograd's: none, used twice, changed
    ARGUMENT = "argument"  # of a constructor, an optimizer, a loader
    CHECK = "check"  # the script's own assert, raise or exit
    NAME = "name"  # Python's: no such name, attribute, key or argument
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the project, as the reading calls its file."""

    path: str
    number: int
    source: str


@dataclass(frozen=True, slots=True)
class Stop:
    """What ends a run before its first steps are done.

    ``lines``: the one that raises, then those that called it, the innermost first. ``when`` is
    "before step 1", "in step 1", "in the backward pass of step 1".
    """

    cause: Cause
    exception: str
    words: str
    when: str
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """``RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)``."""
        return f"{self.exception}: {self.words}" if self.words else self.exception
