"""A run's alloc and free events, recorded once and played as often as there are questions.

What lives at a moment of a tape.
"""

from __future__ import annotations

from enum import Enum
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from nanolint.run.story import NO_STORY
from nanolint.tape.lasting import lasting

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from nanolint.run.stop import Stop
    from nanolint.tape.locating import Locator


ROUNDING = 512  # kMinBlockSize: PyTorch rounds every request up to it


def rounded(nbytes: int) -> int:
    """The bytes that a request of ``nbytes`` bytes takes."""
    return (nbytes + ROUNDING - 1) // ROUNDING * ROUNDING


class Phase(str, Enum):
    """The phases of a training run, as the docs and the JSON name them."""

    SETUP = "setup"  # of a traced run: until its last optimizer is made
    EVAL = "eval"
    FORWARD = "forward"
    BACKWARD = "backward"
    OPTIMIZER = "optimizer"
    EVAL_LATE = "eval_late"

    @property
    def within(self) -> str:
        """Where in the run that is, after "in"."""
        return _WITHIN[self]


_WITHIN = {
    Phase.SETUP: "setting up",
    Phase.EVAL: "the first estimate_loss",
    Phase.FORWARD: "the forward pass",
    Phase.BACKWARD: "the backward pass",
    Phase.OPTIMIZER: "the optimizer step",
    Phase.EVAL_LATE: "a later estimate_loss",
}


class Component(str, Enum):
    """What a tensor is for. The components live at the peak sum to the allocated peak."""

    PARAMETERS = "parameters"
    GRADIENTS = "gradients"
    OPTIMIZER = "optimizer"
    WEIGHT_COPIES = "weight_copies"
    ACTIVATIONS = "activations"
    LOGITS_AND_LOSS = "logits_and_loss"
    INPUTS = "inputs"
    WORKSPACE = "workspace"


Handle: TypeAlias = int


class Allocation(Protocol):
    """What a compiled graph says of a buffer that it allocates."""

    @property
    def slot(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def component(self) -> Component: ...


# In the place of a slot: where the first matrix product is launched, and the first with a bias.
PRODUCT, BIASED = -1, -2


class MemoryPlan:
    """What a compiled graph allocates and frees, in order, at every call.

    ``events`` are slots: ``slot`` to allocate, ``~slot`` to free. ``slots``, ``sizes`` (bytes,
    rounded up), ``names`` and ``components`` are those of the allocations.

    Of ``shared`` slots the graph is not the only holder: ``stretches`` are the events up to each
    place where it lets one go, and that slot; None behind the last. ``product`` is how many events
    lie before its first matrix product, ``biased`` before the first that adds a bias, where a
    stretch ends, too; None where it has none.
    ``flops`` are the operations of its products, by what they compute in.
    """

    def __init__(
        self,
        made: Iterable[Allocation],
        events: list[int],
        shared: Container[int] = (),
        product: int | None = None,
        biased: int | None = None,
    ) -> None:
        made = tuple(made)
        self.events = events
        self.stretches: list[tuple[list[int], int | None]] = []
        start = 0
        for place, event in enumerate((*events, 0)):
            for mark, before in ((PRODUCT, product), (BIASED, biased)):
                if place == before:
                    self.stretches.append((events[start:place], mark))
                    start = place
            if event < 0 and ~event in shared:
                self.stretches.append((events[start:place], ~event))
                start = place + 1
        self.stretches.append((events[start:], None))
        # How many allocations lie before the end of each stretch.
        self.made = list(
            accumulate(sum(event >= 0 for event in events) for events, _ in self.stretches)
        )
        self.slots = [buffer.slot for buffer in made]
        self.sizes = [rounded(buffer.nbytes) for buffer in made]
        self.names = [buffer.name for buffer in made]
        self.components = [buffer.component for buffer in made]
        self.flops: Mapping[str, int] = {}


class Step(NamedTuple):
    """What an optimizer step computes in one process, from the end of the one before.

    ``flops`` are the operations of matrix products by what they compute in: "bfloat16", or "tf32"
    where float32 is allowed to be that; ``tokens`` are those that the model was given, None where
    it was given none.
    """

    flops: tuple[tuple[str, int], ...]
    tokens: int | None


class Mark(NamedTuple):
    """A place on a tape: the events, allocations, phases and operations before it."""

    events: int
    allocations: int
    phases: int
    flops: Mapping[str, int]


class Tape:
    """The recorded events. A handle is the number of its allocation, counted from 0.

    ``events`` holds ``handle`` for an allocation and ``~handle`` for its release; ``sizes`` are
    bytes, already rounded up. ``phases`` are (number of events before it, phase). ``doubts`` say
    what is otherwise on it than PyTorch would have it, because that is not known; ``above`` are
    those for which the events are known to take more. ``flops`` are the operations of matrix
    products so far, by what they compute in, and ``steps`` what the first steps took of them.
    ``printed`` are lines that the program prints before it trains, ``trained`` what a step of it
    was seen to train with: sequences, tokens of each, and passes; 0 what was not seen. ``story`` is
    what rules read of its loop.
    """

    __slots__ = (
        "above", "apart", "assumed", "components", "doubts", "events", "flops", "names", "phases",
        "printed", "sizes", "steps", "stop", "story", "trained",
    )  # fmt: skip

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Nothing was recorded; what was lets go of its memory elsewhere."""
        self.events: list[int] = []
        self.sizes: list[int] = []
        self.names: list[str] = []
        self.components: list[Component] = []
        self.phases: list[tuple[int, Phase]] = []
        self.doubts: list[str] = []
        self.above: list[str] = []
        self.assumed: list[str] = []  # what nobody has said, and is taken to be so
        self.apart: dict[str, Phase] = {}  # of that, what matters to one phase alone
        self.flops: dict[str, int] = {}
        self.steps: list[Step] = []
        self.printed: list[str] = []
        self.trained: list[int] = [0, 0, 0]
        self.story = NO_STORY
        self.stop: Stop | None = None  # what ends the run after the first steps

    @property
    def locator(self) -> Locator | None:
        """Who wants to be told which line of the program runs; nobody does."""
        return None

    @property
    def is_bound(self) -> bool:
        """Whether there are doubts, and whatever is so takes less than the events."""
        return bool(self.doubts) and all(each in self.above for each in self.doubts)

    def doubt(self, what: str) -> None:
        """A doubt, once."""
        if what not in self.doubts:
            self.doubts.append(what)

    def assume(self, what: str, *, apart: bool = False) -> None:
        """What is taken to be so, once; ``apart``: of what this phase allocates, and keeps none
        of."""
        phase = self.phases[-1][1] if apart and self.phases else None
        if what not in self.assumed:
            self.assumed.append(what)
            if phase is not None:
                self.apart[what] = phase
        elif self.apart.get(what) is not phase:
            self.apart.pop(what, None)

    def doubt_above(self, what: str) -> None:
        """A doubt of something that takes less than the events, once."""
        if what not in self.doubts:
            self.doubts.append(what)
            self.above.append(what)

    def alloc(self, nbytes: int, name: str, component: Component) -> Handle:
        """Record an allocation of ``nbytes`` bytes."""
        handle = len(self.sizes)
        self.sizes.append(rounded(nbytes))
        self.names.append(name)
        self.components.append(component)
        self.events.append(handle)
        return handle

    def free(self, *handles: Handle) -> None:
        """Record releases, in the order given."""
        for handle in handles:
            self.events.append(~handle)

    def play(
        self,
        plan: MemoryPlan,
        slots: list[Handle],
        shared: dict[int, Any] | None = None,
        multiply: Callable[[bool], None] | None = None,
    ) -> None:
        """Record one call of a planned graph; ``slots`` hold the handles, before and after.

        ``shared`` holds what the graph shares with others, until it lets it go; ``multiply`` is
        called where the first matrix product is launched, and where the first is that adds a bias.
        """
        made = 0
        for kind, flops in plan.flops.items():
            self.compute(kind, flops)
        for (events, let_go), stop in zip(plan.stretches, plan.made, strict=True):
            self._make(plan, made, stop, slots)
            made = stop
            self.events += [slots[event] if event >= 0 else ~slots[~event] for event in events]
            if let_go in {PRODUCT, BIASED}:
                if multiply is not None:
                    multiply(let_go == BIASED)
            elif let_go is not None and shared is not None:
                shared.pop(let_go, None)

    def compute(self, kind: str, flops: int) -> None:
        """A matrix product takes so many operations."""
        self.flops[kind] = self.flops.get(kind, 0) + flops

    def compute_again(self, before: Mapping[str, int], times: int) -> None:
        """What was computed since ``flops`` were these is computed so many times more."""
        for kind, flops in self.flops.items():
            self.flops[kind] = flops + times * (flops - before.get(kind, 0))

    def _make(self, plan: MemoryPlan, start: int, stop: int, slots: list[Handle]) -> None:
        """Give the allocations of a stretch their handles, which count up with the events."""
        for handle, slot in enumerate(plan.slots[start:stop], len(self.sizes)):
            slots[slot] = handle
        self.sizes += plan.sizes[start:stop]
        self.names += plan.names[start:stop]
        self.components += plan.components[start:stop]

    def forget(self, first: Handle) -> None:
        """Take back all allocations from ``first`` on, and what happened since."""
        del self.events[self.events.index(first) :]
        del self.sizes[first:], self.names[first:], self.components[first:]

    def phase(self, phase: Phase) -> None:
        """Record that a phase starts."""
        self.phases.append((len(self.events), phase))

    def close(self) -> None:
        """The run ends: what its holders let go from now on is no part of it."""
        self.events = self.events.copy()

    def mark(self) -> Mark:
        """The end of what is recorded so far."""
        return Mark(len(self.events), len(self.sizes), len(self.phases), self.flops.copy())

    def copy(self, start: Mark, end: Mark, successor: dict[Handle, Handle]) -> int:
        """Record once more what lies between two marks; returns how far its handles moved.

        ``successor`` has, for each older handle that is freed there, the one to free now.
        """
        first = start.allocations
        shift = len(self.sizes) - first
        later = len(self.events) - start.events
        self.phases += [(at + later, phase) for at, phase in self.phases[start.phases : end.phases]]
        self.events += [
            event + shift
            if event >= 0
            else (event - shift if ~event >= first else ~successor[~event])
            for event in self.events[start.events : end.events]
        ]
        copied = slice(first, end.allocations)
        self.sizes += self.sizes[copied]
        self.names += self.names[copied]
        self.components += self.components[copied]
        return shift

    def phase_at(self, event: int) -> Phase:
        """The phase that the event of that number belongs to."""
        return next(phase for start, phase in reversed(self.phases) if start <= event)


def summits(
    tape: Tape, end: int, sizes: Sequence[int] | None = None
) -> dict[Phase, tuple[int, int]]:
    """Per phase the allocated peak in bytes and the number of the event that reached it, until the
    event ``end``; ``sizes`` are the tape's own, or stand in their place."""
    tops: dict[Phase, tuple[int, int]] = {}
    sizes, events, live = tape.sizes if sizes is None else sizes, tape.events, 0
    bounds = [0, *(start for start, _ in tape.phases[1:]), len(events)]  # with what is there first
    for (_, phase), start, stop in zip(tape.phases, bounds, bounds[1:], strict=False):
        peak, summit = tops.get(phase, (0, 0))
        for number, event in enumerate(islice(events, start, min(stop, end)), start):
            if event >= 0:
                live += sizes[event]
                if live > peak:
                    peak, summit = live, number
            else:
                live -= sizes[~event]
        if peak:
            tops[phase] = peak, summit
    return tops or {Phase.EVAL: (0, 0)}


def summit(tape: Tape) -> Handle:
    """The allocation that reaches the peak."""
    tops = summits(tape, len(tape.events))
    _, event = max(tops.values(), key=lambda top: top[0])
    return tape.events[event]


def live_at(tape: Tape, handle: Handle | None = None) -> set[Handle]:
    """What lives when an allocation is made, itself among them; at the end if none is named."""
    live: set[Handle] = set()
    for event in tape.events:
        if event >= 0:
            live.add(event)
            if event == handle:
                break
        else:
            live.discard(~event)
    return live


def last_pass(tape: Tape, before: int) -> tuple[int, int]:
    """The events of the last forward pass that a backward pass follows, not after ``before``.

    Both 0 where there is none.
    """
    found = (0, 0)
    for (start, phase), (end, following) in zip(tape.phases, tape.phases[1:], strict=False):
        if phase is Phase.FORWARD and following is Phase.BACKWARD:
            if end > before and found != (0, 0):
                break
            found = start, end
    return found


@lasting()
def floor_bytes(tape: Tape) -> int:
    """What parameters, their gradients and the optimizer's state take: no run takes less."""
    freed = {~event for event in tape.events if event < 0}
    kept = {Component.PARAMETERS, Component.OPTIMIZER}
    pairs = enumerate(zip(tape.sizes, tape.components, strict=True))
    state = sum(size for at, (size, part) in pairs if part in kept and at not in freed)
    return state + _most_gradients(tape)


def _most_gradients(tape: Tape) -> int:
    """The bytes of gradients that live when the first optimizer step begins."""
    end = next((at for at, phase in tape.phases if phase is Phase.OPTIMIZER), 0)
    live = 0
    for event in tape.events[:end]:
        handle = event if event >= 0 else ~event
        if tape.components[handle] is Component.GRADIENTS:
            live += tape.sizes[handle] if event >= 0 else -tape.sizes[handle]
    return live
