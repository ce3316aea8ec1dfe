"""Replay a run's GPU memory and say where it peaks, and which allocation fails under a limit.

The overhead: what a process holds on a card outside PyTorch's allocator.

That is CUDA's context and the loaded kernels.

3 MiB per SM (4.5 on Hopper's and Blackwell's data-centre cards) plus the kernels that a training
run loads. The interval covers the measured figures that ``tape/torch.py`` names.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from nanolint.frozen import dataclass
from nanolint.gpus.abilities import has_large_context
from nanolint.recording.recording import recorded
from nanolint.run.coverage import splits_graphs
from nanolint.tape.allocator.play import play
from nanolint.tape.lasting import lasting
from nanolint.tape.tape import Component, Phase, summits
from nanolint.tape.torch import (
    CONTEXT_KERNELS_BYTES,
    CONTEXT_KERNELS_BYTES_LARGE,
    CONTEXT_PER_SM_BYTES,
    CONTEXT_PER_SM_BYTES_LARGE,
    NCCL_CONTEXT_BYTES,
    SM_PER_GIB,
    takes_oldest_block,
)
from nanolint.units import format_bytes

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.recording.tape_answers import TapeAnswers
    from nanolint.run.run import Run
    from nanolint.tape.allocator.play import Playback, Refusal
    from nanolint.tape.tape import Tape

COMPONENTS = tuple(Component)

# No evaluation allocates these: it is the model, DDP or a checkpoint that does, before the first.
SET_UP = (Component.PARAMETERS, Component.GRADIENTS, Component.OPTIMIZER)


@dataclass(frozen=True, slots=True)
class Peak:
    """The moment of the most allocated bytes; ``reserved_bytes`` is the run's own peak."""

    allocated_bytes: int
    reserved_bytes: int
    phase: Phase
    at: str  # the allocation that reached it: "logits (B*T, V) bfloat16"


@dataclass(frozen=True, slots=True)
class Allocation:
    """One named request, rounded up to 512 bytes."""

    name: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class OutOfMemory:
    """The allocation that fails after cached segments were released, in PyTorch's own numbers."""

    phase: Phase
    at: str
    requested_bytes: int
    allocated_bytes: int
    reserved_bytes: int
    free_bytes: int
    logits: bool  # whether it is a (B*T, V) buffer
    sets_up: bool  # whether it moves to the card before the first evaluation
    message: str  # as torch.cuda.OutOfMemoryError words it


class Moment(NamedTuple):
    """The running state after one event, for a plot."""

    phase: Phase
    name: str
    allocated_bytes: int
    reserved_bytes: int
    components: tuple[int, ...]  # bytes, in the order of ``Component``


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay found. ``components`` are the bytes live at the peak and sum to it.

    ``phases`` have the most that each allocates; of those in ``split`` it is not known.
    """

    peak: Peak
    phases: tuple[tuple[Phase, int], ...]
    components: tuple[tuple[Component, int], ...]
    largest: Allocation
    oom: OutOfMemory | None = None
    events: tuple[Moment, ...] = ()
    split: frozenset[Phase] = frozenset()


def replay(
    run: Run,
    gpu: Gpu | None = None,
    *,
    limit_bytes: int | None = None,
    expandable: bool = False,
    trace: bool = False,
) -> Replay:
    """Replay ``run`` on ``gpu`` with at most ``limit_bytes`` reserved, None for no limit.

    The peak is that of the events until the first failure. Everything is 0 off the GPU.
    """
    if not run.on_gpu:
        return NOTHING
    found = recorded(run, gpu).answer(
        _told,
        played(run, gpu, limit_bytes=limit_bytes, expandable=expandable, trace=trace),
        limit_bytes=limit_bytes,
        total_bytes=gpu.total_bytes if gpu else None,
        logits_bytes=_narrowest_logits(run),
    )
    if not splits_graphs(run, gpu):
        return found
    # Where the peak is in an evaluation, it is doubted.
    return replace(found, split=frozenset({Phase.EVAL, Phase.EVAL_LATE} - {found.peak.phase}))


def failure(
    run: Run, gpu: Gpu, limit_bytes: int, *, expandable: bool = False
) -> OutOfMemory | None:
    """The ``oom`` of a replay under a limit, found without the rest of it."""
    if not run.on_gpu:
        return None
    refusal = played(run, gpu, limit_bytes=limit_bytes, expandable=expandable).refusal
    if refusal is None:
        return None
    logits = _narrowest_logits(run)
    return recorded(run, gpu).answer(_out_of_memory, refusal, limit_bytes, gpu.total_bytes, logits)


def played(
    run: Run,
    gpu: Gpu | None,
    *,
    limit_bytes: int | None = None,
    expandable: bool = False,
    trace: bool = False,
) -> Playback:
    """``run`` on the allocator. A limit that it does not reach changes nothing of it; one that it
    does mostly ends it early."""
    tape, how = recorded(run, gpu), _how(run, expandable=expandable, trace=trace)
    if limit_bytes is None:
        return tape.answer(play, **how)
    free = tape.answered(play, **how)
    if free is not None and free.peak_reserved_bytes <= limit_bytes:
        return free
    limited = tape.answer(play, limit_bytes=limit_bytes, **how)
    if not limited.reached_limit:
        tape.tell(limited, play, **how)
    return limited


def on_allocator(run: Run, tape: TapeAnswers[Tape]) -> Playback:
    """A tape of ``run``, at whatever micro-batch, on the allocator of a card without end."""
    return tape.answer(play, **_how(run, expandable=False, trace=False))


def _how(run: Run, **settings: bool) -> dict[str, bool]:
    """The settings of an allocator that ``run`` is played on."""
    return {**settings, "oldest_first": takes_oldest_block(run.torch)}


def peak_change(run: Run, other: Run, gpu: Gpu | None = None) -> int:
    """The bytes by which the allocated peak of ``other`` is above that of ``run``."""
    return replay(other, gpu).peak.allocated_bytes - replay(run, gpu).peak.allocated_bytes


def replay_tape(
    tape: Tape,
    *,
    limit_bytes: int | None = None,
    expandable: bool = False,
    trace: bool = False,
    total_bytes: int | None = None,
    oldest_first: bool = False,
) -> Replay:
    """Play ``tape`` on a card of ``total_bytes`` and tell what was found.

    Every request of the loss's is one for logits.
    """
    playback = play(
        tape,
        limit_bytes=limit_bytes,
        expandable=expandable,
        trace=trace,
        oldest_first=oldest_first,
    )
    return _told(
        tape,
        playback,
        limit_bytes=limit_bytes,
        total_bytes=total_bytes,
        logits_bytes=0,
    )


@lasting(Replay, Peak, Allocation, OutOfMemory, Phase, Component, frozenset)
def _told(
    tape: Tape,
    playback: Playback,
    *,
    limit_bytes: int | None,
    total_bytes: int | None,
    logits_bytes: int,
) -> Replay:
    refusal = playback.refusal
    end = len(tape.events) if refusal is None else refusal.event
    tops = summits(tape, end)
    phase = max(tops, key=lambda phase: tops[phase][0])
    peak, summit = tops[phase]
    handle = tape.events[summit]
    largest = max(range(len(tape.sizes)), key=tape.sizes.__getitem__)
    oom = None
    if refusal is not None:
        oom = _out_of_memory(tape, refusal, limit_bytes or 0, total_bytes, logits_bytes)
    return Replay(
        peak=Peak(peak, playback.peak_reserved_bytes, phase, tape.names[handle]),
        phases=tuple((key, tops[key][0]) for key in Phase if key in tops),
        components=_live(tape, summit),
        largest=Allocation(tape.names[largest], tape.sizes[largest]),
        oom=oom,
        events=_moments(tape, playback.reserved),
    )


def _narrowest_logits(run: Run) -> int:
    """The bytes of the smallest logits; beyond all requests where V is not known."""
    if not run.vocab_size:
        return sys.maxsize
    return 2 * run.batch_size * run.block_size * run.vocab_size


def _live(tape: Tape, summit: int) -> tuple[tuple[Component, int], ...]:
    events = tape.events[: summit + 1]
    total = dict.fromkeys(COMPONENTS, 0)
    freed = {~event for event in events if event < 0}
    for event in events:
        if event >= 0 and event not in freed:
            total[tape.components[event]] += tape.sizes[event]
    return tuple(total.items())


def _moments(tape: Tape, reserved: tuple[int, ...]) -> tuple[Moment, ...]:
    index = {component: position for position, component in enumerate(COMPONENTS)}
    live = [0] * len(COMPONENTS)
    starts = dict(tape.phases)
    phase, moments = Phase.EVAL, []
    for number, (event, held) in enumerate(zip(tape.events, reserved, strict=False)):
        phase = starts.get(number, phase)
        handle, sign = (event, 1) if event >= 0 else (~event, -1)
        live[index[tape.components[handle]]] += sign * tape.sizes[handle]
        moments.append(Moment(phase, tape.names[handle], sum(live), held, tuple(live)))
    return tuple(moments)


@lasting(OutOfMemory, Phase)
def _out_of_memory(
    tape: Tape, refusal: Refusal, limit: int, total_bytes: int | None, logits_bytes: int
) -> OutOfMemory:
    handle = tape.events[refusal.event]
    name = tape.names[handle]
    phase, component = tape.phase_at(refusal.event), tape.components[handle]
    is_loss = component is Component.LOGITS_AND_LOSS
    free = max(0, limit - refusal.reserved_bytes)
    return OutOfMemory(
        phase=phase,
        at=name,
        requested_bytes=refusal.requested_bytes,
        allocated_bytes=refusal.allocated_bytes,
        reserved_bytes=refusal.reserved_bytes,
        free_bytes=free,
        logits=is_loss and tape.sizes[handle] >= logits_bytes,
        sets_up=phase is Phase.EVAL and component in SET_UP,
        message=message(
            refusal.requested_bytes,
            refusal.allocated_bytes,
            refusal.reserved_bytes,
            free,
            limit if total_bytes is None else total_bytes,
        ),
    )


def message(
    requested: int,
    allocated: int,
    reserved: int,
    free: int,
    total: int,
    in_use: int = 0,
    variable: str = "PYTORCH_CUDA_ALLOC_CONF",
) -> str:
    """PyTorch's own text for these bytes; ``in_use`` is what other processes hold.

    ``variable`` is the one that the release advises to set.
    """
    total_text, free_text = format_bytes(total), format_bytes(free)
    held = format_bytes(total - free - in_use)
    others = f"Process 1 has {format_bytes(in_use)} memory in use. " if in_use else ""
    return (
        f"CUDA out of memory. Tried to allocate {format_bytes(requested)}. GPU 0 has a total "
        f"capacity of {total_text} of which {free_text} is free. {others}Including non-PyTorch "
        f"memory, this process has {held} memory in use. Of the allocated memory "
        f"{format_bytes(allocated)} is allocated by PyTorch, and "
        f"{format_bytes(reserved - allocated)} is reserved by PyTorch but unallocated. If reserved "
        f"but unallocated memory is large try setting {variable}=expandable_segments:True "
        "to avoid fragmentation."
    )


NOTHING = Replay(
    peak=Peak(0, 0, Phase.EVAL, ""),
    phases=(),
    components=tuple((component, 0) for component in Component),
    largest=Allocation("", 0),
)


class Interval(NamedTuple):
    """Bytes: the least, the expected, the most."""

    low: int
    expected: int
    high: int


def overhead(gpu: Gpu, world_size: int = 1) -> Interval:
    """The overhead of one process on ``gpu``; with more processes NCCL's buffers are in it."""
    per_sm, kernels = CONTEXT_PER_SM_BYTES, CONTEXT_KERNELS_BYTES
    if has_large_context(gpu):
        per_sm, kernels = CONTEXT_PER_SM_BYTES_LARGE, CONTEXT_KERNELS_BYTES_LARGE
    base = per_sm * (gpu.sm_count or _usual_sm_count(gpu.total_bytes))
    nccl = NCCL_CONTEXT_BYTES if world_size > 1 else (0, 0, 0)
    return Interval(*(base + k + n for k, n in zip(kernels, nccl, strict=True)))


def _usual_sm_count(total_bytes: int) -> int:
    """For a card that is only a size."""
    return max(20, min(144, SM_PER_GIB * total_bytes >> 30))
