"""Does a traced run fit a machine: its tape under the card's limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.cached import cached_property
from nanolint.tape.allocator.play import play
from nanolint.tape.torch import TRACE_ERROR_PER_MILLE, takes_oldest_block
from nanolint.verdict.replay import overhead, replay_tape
from nanolint.verdict.verdict import Outcome, usable_bytes

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.tape.allocator.play import Playback
    from nanolint.trace.traced import Traced
    from nanolint.verdict.replay import OutOfMemory, Replay


class TracedVerdict:
    """A traced run judged on one machine. The trace is exact for the card it was told of."""

    def __init__(self, traced: Traced, machine: Machine, world_size: int = 1) -> None:
        self.traced, self.target = traced, machine
        self._held = overhead(machine.gpu, world_size)
        self._oldest_first = takes_oldest_block(traced.release)
        self.usable_bytes = usable_bytes(machine, self._held)
        self.overhead_bytes = self._held.expected

    @cached_property
    def replay(self) -> Replay:
        """The run on a card without limit."""
        return replay_tape(
            self.traced.tape,
            expandable=self.target.expandable,
            oldest_first=self._oldest_first,
        )

    @cached_property
    def outcome(self) -> Outcome:
        """Comfortable is with the context at its largest, and the trace's error to spare."""
        error = self.usable_bytes * TRACE_ERROR_PER_MILLE // 1000
        if self._passes(self.usable_bytes - (self._held.high - self._held.expected) - error):
            return Outcome.COMFORTABLE
        if self._passes(self.usable_bytes):
            return Outcome.THIN
        if not self.target.expandable and self._passes(self.usable_bytes, expandable=True):
            return Outcome.FRAGMENTED
        return Outcome.OUT_OF_MEMORY

    def _passes(self, limit_bytes: int, *, expandable: bool = False) -> bool:
        expandable = expandable or self.target.expandable
        return self._play(limit_bytes, expandable=expandable).refusal is None

    def _play(self, limit_bytes: int, *, expandable: bool) -> Playback:
        return play(
            self.traced.tape,
            limit_bytes=limit_bytes,
            expandable=expandable,
            oldest_first=self._oldest_first,
        )

    @property
    def fits(self) -> bool:
        """Whether the run survives with the allocator of the machine."""
        return self.outcome in (Outcome.COMFORTABLE, Outcome.THIN)

    @cached_property
    def oom(self) -> OutOfMemory | None:
        """The allocation that fails, if one does."""
        return replay_tape(
            self.traced.tape,
            limit_bytes=self.usable_bytes,
            expandable=self.target.expandable,
            total_bytes=self.target.gpu.total_bytes,
            oldest_first=self._oldest_first,
        ).oom

    @cached_property
    def reserved_bytes(self) -> int:
        """The most that PyTorch reserves: on this machine where it fits, else without limit."""
        unlimited = self.replay.peak.reserved_bytes
        if not self.fits or unlimited <= self.usable_bytes:
            return unlimited
        played = self._play(self.usable_bytes, expandable=self.target.expandable)
        return played.peak_reserved_bytes

    @property
    def margin_bytes(self) -> int:
        """What PyTorch could reserve beyond that; negative, what is lacking, where it fails."""
        return self.usable_bytes - self.reserved_bytes

    @property
    def process_bytes(self) -> int:
        """What nvidia-smi would show for the process."""
        return self.reserved_bytes + self.overhead_bytes
