"""Does a run fit a card: comfortably, barely, only unfragmented, or not."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.interpreter.values import Unread
from nanolint.recording.recording import allocated_bytes, allocated_peak, runs_compiled, state_bytes
from nanolint.run.program import Profiled
from nanolint.tape.allocator.play import play
from nanolint.tape.torch import (
    MODEL_ERROR_COMPILED_PERCENT,
    MODEL_ERROR_EAGER_PERCENT,
    TRACE_ERROR_PER_MILLE,
    WDDM_KEPT_PERCENT,
    variable_in_error,
)
from nanolint.verdict.replay import failure, message, overhead, played, replay

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu, Machine
    from nanolint.run.run import Run
    from nanolint.tape.tape import Tape
    from nanolint.tape.torch import Version
    from nanolint.verdict.replay import Interval, OutOfMemory, Replay


# More than any batch allocates less than a smaller one; a test tries thousands of pairs.
DIP_PERCENT = 10


class Outcome(Enum):
    """How a run fares on a card."""

    COMFORTABLE = "comfortable"  # fits with the model's own error to spare
    THIN = "thin"  # fits, but by less than the model's error
    FRAGMENTED = "fragmented"  # fits only with expandable segments
    OUT_OF_MEMORY = "out of memory"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A run judged on one machine.

    ``usable_bytes`` is the most that PyTorch's allocator may reserve there, ``overhead_bytes`` what
    the process is expected to hold outside it.
    """

    run: Run
    target: Machine
    outcome: Outcome
    oom: OutOfMemory | None
    usable_bytes: int
    overhead_bytes: int

    @property
    def replay(self) -> Replay:
        """The run on a card without limit; played when it is asked for."""
        return replay(self.run, self.target.gpu, expandable=self.target.expandable)

    @property
    def reserved_bytes(self) -> int:
        """The most that PyTorch reserves: on this machine where the run fits, else without limit.

        Near the limit that is less than on a larger card: PyTorch gives cached segments back.
        """
        unlimited = self.replay.peak.reserved_bytes
        if not self.fits or unlimited <= self.usable_bytes:
            return unlimited
        limit, expandable = self.usable_bytes, self.target.expandable
        limited = replay(self.run, self.target.gpu, limit_bytes=limit, expandable=expandable)
        return limited.peak.reserved_bytes

    @property
    def margin_bytes(self) -> int:
        """What PyTorch could reserve beyond that; negative, what is lacking, where it fails."""
        return self.usable_bytes - self.reserved_bytes

    @property
    def process_bytes(self) -> int:
        """What nvidia-smi would show for the process."""
        return self.reserved_bytes + self.overhead_bytes if self.run.on_gpu else 0

    @property
    def fits(self) -> bool:
        """Whether the run survives with the allocator that it was judged with."""
        return self.outcome in (Outcome.COMFORTABLE, Outcome.THIN)


def judge(run: Run, target: Machine) -> Verdict:
    """Replay ``run`` under the machine's limit, see ``usable_bytes``."""
    gpu, expandable = target.gpu, target.expandable
    held = overhead(gpu, run.world_size)
    limit = usable_bytes(target, held)
    oom = None
    if is_comfortable(run, target):
        outcome = Outcome.COMFORTABLE
    else:
        oom = failure(run, gpu, limit, expandable=expandable)
        if oom is None:
            outcome = Outcome.THIN
        elif not expandable and survives(run, target, limit, expandable=True):
            outcome = Outcome.FRAGMENTED
        else:
            outcome = Outcome.OUT_OF_MEMORY
    return Verdict(
        run=run,
        target=target,
        outcome=outcome,
        oom=None if oom is None else replace(oom, message=_message(oom, target, run.torch)),
        usable_bytes=limit,
        overhead_bytes=held.expected,
    )


def usable_bytes(target: Machine, held: Interval) -> int:
    """What PyTorch's allocator may reserve: the total less overhead and what others use.

    Windows keeps a part of the card for itself, and the process may limit itself.
    """
    left = target.gpu.total_bytes - kept_bytes(target)
    free = max(0, left - target.in_use_bytes - held.expected)
    return free if target.allowed_bytes is None else min(free, target.allowed_bytes)


def kept_bytes(target: Machine) -> int:
    """Returns what Windows keeps of the card for itself; 0 on other systems."""
    if target.platform not in ("windows", "wsl"):
        return 0
    return target.gpu.nominal_bytes * WDDM_KEPT_PERCENT // 100


def comfortable_limit(run: Run, target: Machine) -> int:
    """The limit lowered by the overhead's uncertainty and by the error of the program's model."""
    held = overhead(target.gpu, run.world_size)
    limit = usable_bytes(target, held)
    return limit - (held.high - held.expected) - limit * error_per_mille(run, target.gpu) // 1000


def error_per_mille(run: Run, gpu: Gpu) -> int:
    """How far the way to its tape may be off: what was recorded of it."""
    if isinstance(run.program, Profiled):
        return max(TRACE_ERROR_PER_MILLE, run.program.profile.error_per_mille)
    compiled = runs_compiled(run, gpu)
    return 10 * (MODEL_ERROR_COMPILED_PERCENT if compiled else MODEL_ERROR_EAGER_PERCENT)


def is_comfortable(run: Run, target: Machine) -> bool:
    """Whether ``judge`` would say COMFORTABLE."""
    limit = comfortable_limit(run, target)
    return survives(run, target, limit, expandable=target.expandable)


def is_hopeless(run: Run, target: Machine) -> bool:
    """Whether the allocated bytes alone exceed the limit, and those of any larger batch too.

    A larger batch may allocate a little less, where Inductor fuses other kernels for it.
    """
    if not run.on_gpu:
        return False
    return allocated_bytes(run, target.gpu) > hopeful_bytes(run, target)


def hopeful_bytes(run: Run, target: Machine) -> int:
    """The most that a run may allocate of which a larger one may still fit."""
    return comfortable_limit(run, target) * (100 + DIP_PERCENT) // 100


def passes(tape: Tape, target: Machine, limit: int) -> bool:
    """Whether a tape survives under a limit."""
    if allocated_peak(tape) > limit:
        return False
    return play(tape, limit_bytes=limit, expandable=target.expandable).refusal is None


def survives(run: Run, target: Machine, limit: int, *, expandable: bool) -> bool:
    """Whether a run survives under a limit."""
    if not run.on_gpu:
        return True
    # Each is ten times as fast to know as the next: what must be there, what is, how it is placed.
    try:
        if state_bytes(run) > limit or allocated_bytes(run, target.gpu) > limit:
            return False
    except Unread:  # a model that is read may refuse a size that was not asked for
        return False
    return played(run, target.gpu, limit_bytes=limit, expandable=expandable).refusal is None


def _message(oom: OutOfMemory, target: Machine, version: Version) -> str:
    return message(
        oom.requested_bytes,
        oom.allocated_bytes,
        oom.reserved_bytes,
        oom.free_bytes,
        target.gpu.total_bytes,
        target.in_use_bytes,
        variable_in_error(version),
    )
