"""A card, and what a program may ask of it.

Memory on the card, and torch's settings that decide what operations do there.

A storage writes its release to the tape when the last tensor that looks at it is gone. Who that is
CPython's own reference counts say, as they do for PyTorch: code on these tensors is written as a
model's code is, and its names, arguments and temporaries hold what they hold there.

What a reading asks of its card, and of the numbers that its program names: if others answer
alike, the tape is the same.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

from nanolint.tape.symbolic import Formulas, is_symbolic, of_formulas
from nanolint.tape.tape import Component
from nanolint.tape.torch import DEFAULT_SM_COUNT, DEFAULT_SM_THREADS
from nanolint.tensors.dtypes import FLOAT32

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from weakref import ReferenceType

    from nanolint.tape.tape import Handle, Tape
    from nanolint.tensors.dtypes import Dtype

About = ParamSpec("About")
Answer = TypeVar("Answer")


class Card(NamedTuple):
    """The facts in which cards of one kind differ; ``numbers`` are those that a script gives names
    to."""

    multiprocessors: int
    threads: int  # that each multiprocessor holds at once
    total_bytes: int = 0
    generation: int = 0  # the first number of its compute capability
    numbers: tuple[float, ...] = ()
    model: str = ""  # a part of the name that the driver has for it


class AnyNumbers(Protocol):
    """A reading that tapes for many numbers are worked out of (``symbolic_cache.py``)."""

    def is_alike(self, numbers: tuple[int, ...], card: Card, other: Card) -> bool:
        """Whether its tape for these numbers is the same on two cards."""
        raise NotImplementedError


class Followed(NamedTuple):
    """The source of a tape that was worked out from a reading: the reading while it is remembered,
    its numbers, and the content that tells the tape from others of that reading."""

    reading: ReferenceType[AnyNumbers]
    numbers: tuple[int, ...]
    content: bytes


class Asked:
    """The questions that were asked of a card, and its answers. With ``formulas`` the reading is
    one of symbolic numbers, and the card is the first that is given to them."""

    def __init__(self, card: Card, formulas: Formulas | None = None) -> None:
        self._card = card
        self.formulas = formulas
        self._answers: dict[tuple[Callable[..., Any], tuple[Any, ...]], Any] = {}
        self.is_first = False  # in this process, see ``recording.py``
        self.is_kept = False  # of a reading that was kept nobody knows what it asked
        self.followed: Followed | None = None

    def ask(
        self,
        question: Callable[Concatenate[Card, About], Answer],
        *about: About.args,
        **named: About.kwargs,
    ) -> Answer:
        """The card's answer to a function of a module, about values that can be compared."""
        assert not named
        if self.formulas is not None and is_symbolic(about):
            found: Answer = of_formulas(self.formulas, question, about)
            return found
        key = question, about
        if key not in self._answers:
            self._answers[key] = question(self._card, *about, **named)
        answer: Answer = self._answers[key]
        return answer

    def answer(self, question: Callable[..., Answer], *about: Any) -> Answer:
        """The card's answer, which alone decides: nothing is worked out of it, nor on the way."""
        if self.formulas is None or not is_symbolic(about):
            return self.ask(question, *about)
        numbers = [self.formulas.given(0), *about]
        found: Answer = self.formulas.answer(lambda values: question(*values), numbers)
        return found

    def elsewhere(self) -> Asked:
        """For what is not computed on the card: the same numbers, and answers to nobody."""
        return Asked(self._card, self.formulas)

    def agrees(self, other: Asked) -> bool:
        """True if this card gives all answers of ``other``. Asks the same questions here, then."""
        agrees = other.answers_alike(self._card)
        if agrees:
            self.take(other)
        return agrees

    def take(self, other: Asked) -> None:
        """Takes over the questions and answers of ``other``, which asked the same card."""
        self._answers |= other._answers

    @property
    def watches(self) -> bool:
        """Whether the numbers of the program are known by their places."""
        return bool(self._card.numbers)

    def number(self, place: int) -> float:
        """A number of the program, which is not asked for yet."""
        return self._card.numbers[place]

    def answers_alike(self, card: Card) -> bool:
        """Whether another card answers all of it alike."""
        if card == self._card or self.is_kept:
            return card == self._card
        if self.followed is not None:
            found = self.followed.reading()
            return found is not None and found.is_alike(self.followed.numbers, self._card, card)
        asked = self._answers.items()
        return all(question(card, *about) == answer for (question, about), answer in asked)


NEWEST = (2, 13)  # the release that operations are recorded with
FLASH, EFFICIENT, MATH, CUDNN = "flash", "memory-efficient", "math", "cuDNN's"
KERNELS = frozenset({FLASH, EFFICIENT, MATH, CUDNN})
OF_CUBLAS, OF_CUBLASLT = "cuBLAS workspace", "cuBLASLt workspace"
MAIN, AUTOGRAD = "main", "autograd"  # the threads that launch kernels


class NotTraced(Exception):
    """An operation that no tracer knows; ``str`` names it."""

    lacks = "known"


class NotDerived(NotTraced):
    """A single operation of a graph: without being compiled it takes more, not less."""


class NotVerified(NotDerived):
    """One whose formula no recording holds."""

    lacks = "verified"


class LeftAsItIs(NotTraced):
    """An operation that ends a graph within a loop: Dynamo compiles nothing of the function around
    it."""


class Storage:
    """One allocation, released with its last holder.

    ``in_flight`` counts the gradients on their way through a backward pass that look at it.
    ``written`` is when the program last wrote into a result that lies here, in the numbers of
    autograd's nodes, and ``writer`` the line of the program. ``changed``: it has written at all.
    """

    __slots__ = ("changed", "events", "handle", "in_flight", "writer", "written")

    def __init__(self, handle: Handle, events: list[int]) -> None:
        self.handle = handle
        self.events = events
        self.in_flight = 0
        self.changed = False
        self.written = 0
        self.writer: object = None

    def __del__(self) -> None:
        self.events.append(~self.handle)


class Device:
    """Writes what tensors take and give back to ``tape``; ``asked`` are the questions to the card.

    ``half`` is autocast's type, None outside of it. ``casts`` are its copies of parameters, by the
    parameters' leaves, kept to the end of its block if it ``caches_casts``.
    ``workspace_bytes`` is cuBLAS's, allocated by each thread's first matrix product for
    good, or, with ``keeps_workspace`` off, by each product for itself; 0 leaves it out.
    ``first_bias_bytes`` is cuBLASLt's, if it has one of its own, taken with the first product that
    adds a bias; ``passing_bias_bytes`` if each makes it for itself.
    ``attention_kernels`` are those that it may take.
    ``capability`` is the card's compute capability; ``fuses_bfloat16``: memory-efficient attention
    takes bfloat16, as from 8.0 on. ``tuned_for`` is the compute capability by which CUB sizes what
    it sorts and counts with. ``release`` is the first two numbers of torch's.
    """

    def __init__(
        self,
        tape: Tape,
        *,
        asked: Asked | None = None,
        workspace_bytes: int = 0,
        passing_bias_bytes: int = 0,
        first_bias_bytes: int = 0,
        keeps_workspace: bool = True,
        capability: tuple[int, int] = (8, 0),
        fuses_bfloat16: bool = True,
        release: tuple[int, int] = NEWEST,
    ) -> None:
        self.tape = tape
        self.capability = capability
        self.tuned_for = (8, 0)
        self.fuses_bfloat16 = fuses_bfloat16
        self.release = release
        self.asked = asked or Asked(Card(DEFAULT_SM_COUNT, DEFAULT_SM_THREADS))
        self.grad_enabled = True
        self.half: Dtype | None = None
        self.casts: dict[object, object] = {}
        self.caches_casts = True
        self.thread = MAIN
        self.copies_layers = True  # whether those that are alike may be copied
        self.saver: Any = None  # takes what operations save (saving.py)
        self.tracer: Any = None  # takes operations instead of running them (tracing.py)
        workspaces = tuple(filter(None, (workspace_bytes,)))
        self._workspaces = {MAIN: workspaces, AUTOGRAD: workspaces}
        self.allows_tf32 = False  # for products of float32
        self.floats = FLOAT32  # the type of fractions if nobody says it
        self._newest = (0, "", 0)  # product: the allocations before it, what it took
        self.passing_bias_bytes = passing_bias_bytes
        # The backward pass adds biases where it computes again what a checkpoint left out.
        self._first_bias_bytes = {MAIN: first_bias_bytes, AUTOGRAD: first_bias_bytes}
        self._keeps_workspace = keeps_workspace
        self.attention_kernels = KERNELS

    def alloc(self, nbytes: int, name: str, component: Component) -> Storage:
        """Memory of so many bytes, not 0. Raises NotTraced while operations are traced."""
        if self.tracer is not None:
            raise NotTraced(name)
        return Storage(self.tape.alloc(nbytes, name, component), self.tape.events)

    def alone(self, tape: Tape) -> Device:
        """A card like this one with nothing on it, whose threads have their workspaces."""
        made = Device(
            tape,
            asked=self.asked,
            workspace_bytes=self.passing_workspace_bytes,
            passing_bias_bytes=self.passing_bias_bytes,
            keeps_workspace=False,
            capability=self.capability,
            fuses_bfloat16=self.fuses_bfloat16,
            release=self.release,
        )
        made.attention_kernels = self.attention_kernels
        made.tuned_for = self.tuned_for
        made.allows_tf32 = self.allows_tf32
        made.floats = self.floats
        made.caches_casts = self.caches_casts
        return made

    @property
    def awaits_bias_workspace(self) -> bool:
        """Whether the next product that adds a bias takes cuBLASLt's workspace for good."""
        return bool(self._first_bias_bytes.get(self.thread))

    @property
    def awaits_bias_workspace_behind(self) -> bool:
        """The same of the first product in a backward pass that adds one, in a checkpoint."""
        return bool(self._first_bias_bytes.get(AUTOGRAD))

    @property
    def awaits_workspace(self) -> bool:
        """Whether the next matrix product takes cuBLAS's workspace for good."""
        return self._keeps_workspace and bool(self._workspaces.get(self.thread))

    @property
    def passing_workspace_bytes(self) -> int:
        """Bytes of the workspace that each product makes for itself; 0 if threads keep theirs."""
        return 0 if self._keeps_workspace else sum(self._workspaces[self.thread])

    def compute(self, dtype: Dtype, flops: int) -> None:
        """Matrices of ``dtype`` are multiplied, in so many operations (``work.py``)."""
        kind = self.kind_of(dtype)
        self._newest = len(self.tape.sizes), kind, flops
        self.tape.compute(kind, flops)

    def kind_of(self, dtype: Dtype) -> str:
        """Returns the type that products of ``dtype`` compute in."""
        return "tf32" if self.allows_tf32 and dtype is FLOAT32 else dtype.name

    def multiply(self, *, biased: bool = False) -> None:
        """A matrix product is launched: the thread's first takes cuBLAS's workspace, or each.

        ``biased``: it adds a bias, which cuBLASLt does.
        """
        if biased and self.passing_bias_bytes:
            handle = self.tape.alloc(self.passing_bias_bytes, OF_CUBLASLT, Component.WORKSPACE)
            if self._keeps_workspace:
                self.multiply()  # it asks for cuBLAS's handle, too
            self.tape.free(handle)
            return
        for nbytes in self._workspaces.get(self.thread, ()):
            handle = self.tape.alloc(nbytes, OF_CUBLAS, Component.WORKSPACE)
            if not self._keeps_workspace:
                self.tape.free(handle)
        if self._keeps_workspace:
            self._workspaces[self.thread] = ()
        if biased:
            self.add_bias()

    def add_bias(self) -> None:
        """A product adds a bias: the thread's first takes cuBLASLt's own workspace for good."""
        nbytes = self._first_bias_bytes.pop(self.thread, 0)
        if nbytes:
            self.tape.alloc(nbytes, OF_CUBLASLT, Component.WORKSPACE)

    def unmake(self, storages: Sequence[Storage]) -> None:
        """Take back the newest operation, whose results lie in ``storages``: it never ran."""
        tape, first = self.tape, min(each.handle for each in storages)
        at, kind, flops = self._newest
        if at > first:
            tape.compute(kind, -flops)
        made = list(zip(tape.sizes[first:], tape.names[first:], strict=True))
        if self._keeps_workspace and any(name == OF_CUBLAS for _, name in made):
            self._workspaces[self.thread] = tuple(n for n, name in made if name == OF_CUBLAS)
        for nbytes, name in made:
            if name == OF_CUBLASLT and not self.passing_bias_bytes:
                self._first_bias_bytes[self.thread] = nbytes
        tape.forget(first)
        for each in storages:
            each.events = []

    @contextmanager
    def saving(self, saver: object) -> Iterator[None]:
        """Let ``saver`` take what operations save."""
        before, self.saver = self.saver, saver
        try:
            yield
        finally:
            self.saver = before

    @contextmanager
    def no_grad(self) -> Iterator[None]:
        """``torch.no_grad()``."""
        before, self.grad_enabled = self.grad_enabled, False
        try:
            yield
        finally:
            self.grad_enabled = before

    @contextmanager
    def autocast(self, dtype: Dtype | None, *, caches: bool = True) -> Iterator[None]:
        """``torch.autocast``; None turns it off inside. The outermost block drops the casts."""
        before, self.half = self.half, dtype
        cached, self.caches_casts = self.caches_casts, caches
        try:
            yield
        finally:
            self.half, self.caches_casts = before, cached
            if before is None:
                self.casts.clear()

    @contextmanager
    def uncast(self) -> Iterator[None]:
        """Inside an operation that autocast has dealt with: what it is made of is not cast."""
        before, self.half = self.half, None
        try:
            yield
        finally:
            self.half = before

    @contextmanager
    def backward_pass(self) -> Iterator[None]:
        """The thread of autograd, which records nothing and casts nothing."""
        before = self.thread, self.half, self.grad_enabled
        self.thread, self.half, self.grad_enabled = AUTOGRAD, None, False
        try:
            yield
        finally:
            self.thread, self.half, self.grad_enabled = before
