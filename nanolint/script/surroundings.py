"""The surroundings of a script: its launch line, its environment, the cards, other processes.

All cards that a process puts tensors on are counted as one. The processes exchange tensors over
NCCL as torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp does, since PyTorch 2.15
nccl2/ProcessGroupNCCL.cpp: that says what collectives hold until when.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.interpreter.certain import certain
from nanolint.tape.torch import COLLECTIVES_HOLD_SINCE, NCCL2_SINCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.run.described import Loaded
    from nanolint.run.program import DataFile, NotKnown
    from nanolint.source.values import Plain
    from nanolint.tensors.device import Asked
    from nanolint.tensors.tensor import Tensor


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Plain data. ``words`` are the flags of the launch line in their order, ``assigned`` its words
    like ``train.rows=8``, ``put`` the attributes that ``--set`` gives what a parser returns.

    ``vocabulary`` stands for the size of a tokenizer that only a run reads. ``shape`` is that of a
    batch, (B, T), if the code that loads it cannot be read. ``files`` are those of which it is
    known whether they are there; ``fresh``: no checkpoint is. ``compiles``: the run is taken for
    one that is compiled. ``last_step`` is the number of the last step, if that is known.
    ``refuses_float8`` is why the card has no products of 8-bit numbers. ``loaded`` is what is read
    of a checkpoint. ``cards`` is how many the machine has, None if nobody says it. ``is_module``:
    ``python -m`` starts the script. ``is_whole``: its launch line is known, and has no other words.
    ``widest``: vocabularies that are not here are as large as any.
    """

    words: tuple[tuple[str, Plain | NotKnown], ...]
    assigned: tuple[tuple[str, Plain | NotKnown], ...]
    variables: tuple[tuple[str, Plain | NotKnown], ...]
    put: tuple[tuple[str, Plain | NotKnown], ...]
    world_size: int
    capability: tuple[int, int]
    asked: Asked
    has_bfloat16: bool
    shape: tuple[int, int]
    vocabulary: int | None = None
    files: tuple[DataFile, ...] = ()
    fresh: bool = False
    compiles: bool = True
    last_step: int = 1 << 62
    refuses_float8: str | None = None
    loaded: tuple[Loaded, ...] = ()
    saved: tuple[tuple[str, Plain], ...] = ()
    cards: int | None = None
    is_module: bool = False
    is_whole: bool = False
    older_transformers: str | None = None  # that a file of the project asks for, with its name
    widest: bool = False


class Cards:
    """``count`` is how many the machine has, None if nobody says it."""

    def __init__(self, count: int | None) -> None:
        self.count = count
        self.last = self.current = 0  # named last, and by torch.cuda.set_device
        self._used: int | None = None
        self._is_doubted = False

    def use(self, number: int | None) -> str | None:
        """Put tensors on ``cuda:number``, or on ``cuda``; returns a doubt about a second one, once.

        Raises PyTorch's RuntimeError if the machine does not have it.
        """
        self.last = self.current if number is None else number
        self.check(self.last)
        if self._used is None:
            self._used = self.last
        if self.last != self._used and not self._is_doubted:
            self._is_doubted = True
            both = f"cuda:{self._used} and cuda:{self.last}"
            untold = "" if self.count else "; name both, such as --gpu 2xRTX-4090"
            return f"tensors on {both} are counted as one card's{untold}"
        return None

    def check(self, number: int) -> None:
        """Raises PyTorch's RuntimeError if the machine does not have the card."""
        if self.count is not None and number >= self.count:
            known = f"[0, {self.count})"
            raise certain(
                RuntimeError(f"Device index value {number} is out of index range {known}")
            )

    def choose(self, number: int) -> None:
        """``torch.cuda.set_device``."""
        self.check(number)
        self.current = number


class Work:
    """A collective that runs while the script goes on: ``shelf`` holds its tensors until it is
    waited for, ``outputs`` its results, for as long as somebody has them."""

    __slots__ = ("_nccl2", "outputs", "shelf")

    def __init__(self, outputs: Sequence[Tensor], shelf: list[Tensor], *, nccl2: bool) -> None:
        self.outputs = list(outputs)
        self.shelf = shelf
        self._nccl2 = nccl2

    def wait(self) -> None:
        """``Work.wait()``: the stream waits, and the tensors are let go."""
        self.shelf.clear()

    def future(self) -> Work:
        """``Work.getFuture()``: nccl2 lets the stream wait at once, the first NCCL holds on."""
        if self._nccl2:
            self.shelf.clear()
        return self


class Group:
    """The process group. ``size`` is the number of processes.

    ``formed``: there is a group, so that collectives and DDP do their work, even if it has one
    process. ``reduces`` inside the forward pass of DDP's wrapper; ``keeps`` what lives as long as
    the group does. ``is_told_rank``: the script asks which process it is, or forms the group.
    """

    def __init__(self, size: int, release: tuple[int, int]) -> None:
        self.size = size
        self.formed = size > 1
        self.is_told_rank = False
        self.nccl2 = release >= NCCL2_SINCE
        self.reduces = False
        self.keeps: Tensor | None = None
        self._holds = release >= COLLECTIVES_HOLD_SINCE
        self._running: list[list[Tensor]] = []
        self._done: list[list[Tensor]] = []

    def settle(self) -> None:
        """A backward pass begins: what ran before has ended, and the watchdog has seen it."""
        self._done += self._running
        self._running = []

    def run(
        self, inputs: Sequence[Tensor], outputs: Sequence[Tensor], held: Sequence[Tensor] = ()
    ) -> Work:
        """Starts a collective while the script goes on; ``held`` is what it holds besides."""
        shelf = list(inputs) if self.nccl2 else [*inputs, *outputs, *held] if self._holds else []
        work = Work(outputs, shelf, nccl2=self.nccl2)
        self._enqueue(shelf)
        return work

    def run_at_once(self) -> None:
        """A collective that the script's own stream runs: it holds nothing."""
        self._enqueue([])

    def _enqueue(self, shelf: list[Tensor]) -> None:
        """``workEnqueue``: what the watchdog has seen the end of is let go."""
        for each in self._done:
            each.clear()
        self._done.clear()
        if shelf:
            self._running.append(shelf)
