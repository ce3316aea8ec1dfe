"""A run that is known to stop: what it raises, on which line, and when."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


AFTER = "after the last step"


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
    """What ends a run.

    ``lines``: the one that raises, then those that called it, the innermost first. ``when`` is
    "before step 1", "in step 1", "in the backward pass of step 1", "after step 1", "in a later
    step", or AFTER.
    ``operands`` say of the tensors that PyTorch refuses what they are and how large; ``made`` are
    those of them whose line is known, each with the line that binds it.
    """

    cause: Cause
    exception: str
    words: str
    when: str
    lines: tuple[Line, ...]
    operands: tuple[str, ...] = ()
    made: tuple[tuple[str, Line], ...] = ()

    @property
    def written(self) -> tuple[Any, ...]:
        """Plain values, of which ``Stop.read`` makes the same."""
        lines, made = map(_plain, self.lines), ((what, _plain(line)) for what, line in self.made)
        cause, rest = self.cause.value, (self.operands, tuple(made))
        return (cause, self.exception, self.words, self.when, tuple(lines), *rest)

    @classmethod
    def read(cls, written: Sequence[Any]) -> Stop:
        """The stop that was ``written``."""
        cause, exception, words, when, lines, operands, made = written
        found = tuple(Line(*each) for each in lines)
        bound = tuple((what, Line(*each)) for what, each in made)
        return cls(Cause(cause), exception, words, when, found, tuple(operands), bound)

    @property
    def is_late(self) -> bool:
        """Whether the loop is over by then: what was trained is only lost if it was not saved."""
        return self.when == AFTER

    @property
    def told(self) -> str:
        """``in step 6: NameError: name 'x' is not defined (train.py:36)``."""
        place = f" ({self.lines[0].path}:{self.lines[0].number})" if self.lines else ""
        return f"{self.when}: {self.text}{place}"

    @property
    def text(self) -> str:
        """``RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)``."""
        return f"{self.exception}: {self.words}" if self.words else self.exception


def _plain(line: Line) -> tuple[str, int, str]:
    return line.path, line.number, line.source


def quoted(places: Iterable[tuple[str, int]], texts: Mapping[str, str]) -> tuple[Line, ...]:
    """The lines of ``places`` with their text, by file and number, in the same order."""
    found = []
    for path, number in places:
        rows = texts.get(path, "").splitlines()
        found.append(Line(path, number, rows[number - 1] if 0 < number <= len(rows) else ""))
    return tuple(found)
