"""Observations of a run: the shape of its batches, its passes to a step, the lines that it
prints."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nanolint.interpreter.torch import modules
from nanolint.tensors.dtypes import FLOATING, INT32, INT64
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from nanolint.interpreter.values import Instance, Value

TOKENS = (INT32, INT64)
MORE = "a later step trains with"


class Seen:
    """Notes it while the script is read. ``shape`` is that of the first tokens that a model is
    given between the making of the optimizer and a backward pass; ``passes`` are the most of any
    step: the first may have fewer, and so has the last that is read, which others are left out
    before."""

    def __init__(self) -> None:
        self.shape: tuple[int, ...] | None = None
        self.samples: int | None = None  # of the first that are no tokens: pictures, say
        self.passes = 0
        self.backward = 0
        self.has_settled = False  # the first steps are done
        self.last = 0  # passes of the latest step
        self.evaluated: tuple[int, ...] | None = None  # the shape of the first that learns nothing
        self._given: tuple[int, ...] | None = None

    @property
    def only_evaluates(self) -> bool:
        """Whether a model was given tokens, and none for training."""
        return self.evaluated is not None and self.shape is None and not self.backward

    @property
    def trained(self) -> list[int]:
        """The sequences, the tokens of each, and the passes of a step; 0 what was not seen."""
        rows, length = self.shape or (self.samples or 0, 0)
        return [rows, length, self.passes]

    @property
    def tokens(self) -> int | None:
        """The tokens of the last step; None if no model was given any."""
        return prod(self.shape) * self.last if self.shape and self.last else None

    def differs(self, arguments: list[Value]) -> str | None:
        """Returns how a later step trains with more than the first, if it does.

        Less takes no more: it may be a text that is made after the loop, with gradients.
        """
        if self._given is not None:  # inside a step
            return None
        shape = _shape(arguments)
        if self.shape is not None and shape is not None and _is_more(shape, self.shape):
            words = ("x".join(map(str, each)) for each in (shape, self.shape))
            return "{} {} tokens, not {}".format(MORE, *words)
        return None

    def called(self, module: Instance, arguments: list[Value], *, learns: bool) -> None:
        """A module is called."""
        shape = _shape(arguments)
        if shape is None:
            if learns and self.samples is None and modules.is_module(module):
                self.samples = _samples(arguments)
            return
        if not learns:
            self.evaluated = self.evaluated or shape
        elif self._given is None:
            self._given = shape

    def went_back(self) -> None:
        """A backward pass begins."""
        self.backward += 1
        if not self.has_settled:
            self.shape = self._given or self.shape
        self._given = None

    def evaluates(self) -> None:
        """Notes that the batch was not for training."""
        self._given = None

    def skips(self) -> None:
        """Turns are left out: of the step that they are in only some passes are read."""
        self.backward = 0

    def stepped(self) -> None:
        """An optimizer has stepped."""
        if self.backward:
            self.last, self.backward = self.backward, 0
            self.passes = max(self.passes, self.last)


def _is_more(shape: tuple[int, ...], before: tuple[int, ...]) -> bool:
    """Whether there are more sequences, or longer ones."""
    return any(one > other for one, other in zip(shape, before, strict=True))


def _shape(arguments: list[Value]) -> tuple[int, ...] | None:
    """The shape of the tokens that a module is given, if it is."""
    tokens = arguments[0] if arguments else None
    if not isinstance(tokens, Tensor) or tokens.dtype not in TOKENS or len(tokens.shape) != 2:
        return None
    return tokens.shape


def _samples(arguments: list[Value]) -> int | None:
    """How many samples a module is given that are no tokens."""
    given = arguments[0] if arguments else None
    if not isinstance(given, Tensor) or given.dtype.kind != FLOATING or len(given.shape) < 2:
        return None
    return given.shape[0]


MOST = 64  # lines
LONGEST = 400  # characters of a line


class Printed:
    """The whole lines so far. Of a line of which something is not known, nothing is kept."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.is_over = False  # a backward pass has begun: what comes now is not told
        self._open: str | None = ""  # the line that has not ended; None where it is not known

    def put(self, text: str | None, end: str | None) -> None:
        """Prints a text and its end; None stands for a text that is not known."""
        if text is None or end is None:
            self._open = "" if end is not None and end.endswith("\n") else None
            return
        first, *rest = f"{text}{end}".split("\n")
        self._open = None if self._open is None else self._open + first
        for each in rest:
            if self._open is not None and len(self.lines) < MOST and len(self._open) <= LONGEST:
                self.lines.append(self._open)
            self._open = each

    def mark(self) -> tuple[int, str | None]:
        """Returns the place up to which it has printed."""
        return len(self.lines), self._open

    def forget(self, mark: tuple[int, str | None]) -> None:
        """Drops the lines that were printed since."""
        count, before = mark
        del self.lines[count:]
        self._open = "" if before == self._open == "" else None
