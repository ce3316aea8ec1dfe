"""Which of the usual cards a run fits, if nobody named a card, and the smallest of all.

The smallest card in the catalogue that a run fits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.gpus import abilities
from nanolint.recording.recording import allocated_bytes, is_read_alike, recorded
from nanolint.run.run import Attention
from nanolint.units import GIB
from nanolint.verdict.replay import overhead, played
from nanolint.verdict.search import first_that_holds
from nanolint.verdict.verdict import (
    comfortable_limit,
    is_comfortable,
    judge,
    passes,
    survives,
    usable_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.gpus.gpu import Gpu, Machine
    from nanolint.run.run import Run
    from nanolint.tape.allocator.play import Playback


# Without flash attention and bfloat16 the run would be another one.
FIRST_CAPABILITY = max(abilities.FLASH, abilities.BFLOAT16)

# On a card a run takes so much less or more than on none, at most: of 18 runs on eleven cards none
# of 3 GB and more took 0.7 % less. On cards that are read alike none took 1.3 % more.
LESS_PERCENT, MORE_PERCENT = 1, 3


@dataclass(frozen=True, slots=True)
class Ladder:
    """Returns the memory of a run, and the usual cards that it fits.

    ``first`` is the smallest card on which it is comfortable, ``below`` the next smaller one, and
    ``barely`` whether it would survive there.
    """

    process_bytes: int
    largest: Machine
    first: Machine | None
    below: Machine | None
    barely: bool

    def __str__(self) -> str:
        """``fits RTX 4070 (11.7) and larger, not RTX 3080 10GB``."""
        if self.first is None:
            return f"fits no usual card, the largest being {_sized(self.largest.gpu)}"
        larger = "" if self.first == self.largest else " and larger"
        word = "barely" if self.barely else "not"
        below = "" if self.below is None else f", {word} {self.below.gpu.name}"
        return f"fits {_sized(self.first.gpu)}{larger}{below}"


def ladder(run: Run, machines: Sequence[Machine]) -> Ladder | None:
    """Returns where ``run``, whose card is not known, fits; None if no machine is a candidate.

    The machines have one allocator. Raises Unread if the run cannot be read for one of them.
    """
    usual = [each for each in machines if is_modern(each.gpu)]
    if not usual:
        return None
    usual.sort(key=lambda machine: machine.gpu.total_bytes)
    unnamed = Unnamed(run, expandable=usual[0].expandable)
    indices = range(len(usual))
    start = first_that_holds(indices, lambda at: unnamed.may_fit(usual[at]), 0)
    at = first_that_holds(indices, lambda at: unnamed.fits(usual[at]), start)
    first = usual[at] if at < len(usual) else None
    below = usual[at - 1] if at else None
    return Ladder(
        process_bytes=unnamed.process_bytes(first, usual[-1]),
        largest=usual[-1],
        first=first,
        below=below,
        barely=below is not None and unnamed.survives(below, unnamed.usable_bytes(below)),
    )


class Unnamed:
    """A run whose card nobody named: by its tape that asked no card.

    It is read for a card only if that tape leaves the verdict there in question.
    """

    def __init__(self, run: Run, *, expandable: bool) -> None:
        self._run, self._expandable = on_modern_card(run), expandable
        self._allocated = allocated_bytes(self._run)
        self._reserved = played(self._run, None, expandable=expandable).peak_reserved_bytes

    def may_fit(self, machine: Machine) -> bool:
        """Whether the tape alone is comfortable on a card."""
        return self._passes(comfortable_limit(self._run, machine))

    def fits(self, machine: Machine, more: int = 0) -> bool:
        """Whether the run is comfortable on a card, if it takes so many bytes more."""
        return self.survives(machine, comfortable_limit(self._run, machine) - more)

    def survives(self, machine: Machine, limit: int) -> bool:
        """Whether the run survives under a limit."""
        if not self._passes(limit * (100 + LESS_PERCENT) // 100):
            return False
        return self._surely_survives(machine, limit) or survives(
            self._run, machine, limit, expandable=self._expandable
        )

    def process_bytes(self, first: Machine | None, largest: Machine) -> int:
        """Returns the bytes of the process on the first card, on the largest if there is none."""
        if first is None:
            return self._reserved + overhead(largest.gpu, self._run.world_size).expected
        if not self._surely_survives(first, comfortable_limit(self._run, first)):
            return judge(self._run, first).process_bytes
        playback = self._played(self.usable_bytes(first))
        return playback.peak_reserved_bytes + overhead(first.gpu, self._run.world_size).expected

    def usable_bytes(self, machine: Machine) -> int:
        """Returns the bytes that PyTorch's allocator may reserve on a card."""
        return usable_bytes(machine, overhead(machine.gpu, self._run.world_size))

    def _surely_survives(self, machine: Machine, limit: int) -> bool:
        least = limit * (100 - MORE_PERCENT) // 100
        return is_read_alike(self._run, machine.gpu) and self._passes(least)

    def _passes(self, limit: int) -> bool:
        if self._allocated <= limit < self._reserved:
            return self._played(limit).refusal is None
        return limit >= self._reserved

    def _played(self, limit: int) -> Playback:
        return played(self._run, None, limit_bytes=limit, expandable=self._expandable)


def on_modern_card(run: Run) -> Run:
    """Returns ``run`` with the attention of a card that has flash attention, if its card says."""
    if run.dtype != "float32" and (run.program is None or run.attention is Attention.EFFICIENT):
        return replace(run, attention=Attention.FLASH)
    return run


def is_modern(gpu: Gpu) -> bool:
    """Whether a card runs what no card was named for as it was read."""
    capability = gpu.compute_capability
    return gpu.vendor == "nvidia" and capability is not None and capability >= FIRST_CAPABILITY


def _sized(gpu: Gpu) -> str:
    return f"{gpu.name} ({gpu.total_bytes / GIB:.1f})"


NOT_FOR_SALE = ("Laptop", "Max-Q")


def smallest_card(run: Run, machine: Machine) -> Gpu | None:
    """The NVIDIA card with the least memory on which ``run`` is comfortable, None if there is none.

    Of cards that carry the same memory, one whose total has been measured comes first.
    Laptop cards are left out: nobody can put one into the machine at hand.
    Platform and allocator stay those of ``machine``.
    """
    from nanolint.gpus.catalogue import load

    def on(gpu: Gpu) -> Machine:
        return replace(machine, gpu=gpu, count=None, in_use_bytes=0)

    run = on_modern_card(run)
    tape = recorded(run).tape

    def may_fit(gpu: Gpu) -> bool:
        """A program is read again for each kind of card, seconds for a large one: by what it is
        without a card it is asked only where it might fit."""
        return run.program is None or passes(tape, on(gpu), comfortable_limit(run, on(gpu)))

    needed = allocated_bytes(run)
    candidates = (
        gpu for gpu in load() if _is_candidate(gpu) and comfortable_limit(run, on(gpu)) >= needed
    )
    for gpu in sorted(candidates, key=lambda gpu: (gpu.nominal_bytes, gpu.estimated, gpu.name)):
        if may_fit(gpu) and is_comfortable(run, on(gpu)):
            return gpu
    return None


def _is_candidate(gpu: Gpu) -> bool:
    return is_modern(gpu) and not any(word in gpu.name for word in NOT_FOR_SALE)
