"""Which of the usual cards a run fits, if nobody named a card."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.gpus import abilities
from nanolint.recording.recording import allocated_bytes
from nanolint.run.run import Attention
from nanolint.units import GIB
from nanolint.verdict.overhead import overhead
from nanolint.verdict.replay import played
from nanolint.verdict.search import APART_PERCENT, first_that_holds
from nanolint.verdict.verdict import comfortable_limit, is_comfortable, judge, usable_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.gpus.gpu import Gpu, Machine
    from nanolint.run.run import Run

# Without flash attention and bfloat16 the run would be another one.
FIRST_CAPABILITY = max(abilities.FLASH, abilities.BFLOAT16)


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

    Raises Unread if it cannot be read for one of them. The tape that asks no card says about
    where; the two cards that are named have the last word, but if it is far too large for one.
    """
    run = on_modern_card(run)
    usual = [each for each in machines if is_modern(each.gpu)]
    if not usual:
        return None
    usual.sort(key=lambda machine: machine.gpu.total_bytes)
    indices = range(len(usual))
    start = first_that_holds(indices, lambda at: _survives(run, usual[at]), 0)
    at = first_that_holds(indices, lambda at: _fits(run, usual[at]), start)
    shown = judge(run, usual[min(at, len(usual) - 1)])
    below = usual[at - 1] if at else None
    return Ladder(
        process_bytes=shown.process_bytes,
        largest=usual[-1],
        first=usual[at] if at < len(usual) else None,
        below=below,
        barely=below is not None and _may_fit(run, below) and judge(run, below).fits,
    )


def on_modern_card(run: Run) -> Run:
    """Returns ``run`` with the attention of a card that has flash attention, if its card says."""
    if run.dtype != "float32" and (run.program is None or run.attention is Attention.EFFICIENT):
        return replace(run, attention=Attention.FLASH)
    return run


def is_modern(gpu: Gpu) -> bool:
    """Whether a card runs what no card was named for as it was read."""
    capability = gpu.compute_capability
    return gpu.vendor == "nvidia" and capability is not None and capability >= FIRST_CAPABILITY


def _survives(run: Run, machine: Machine) -> bool:
    """Whether the tape that asked no card is comfortable."""
    return _passes(run, machine, comfortable_limit(run, machine))


def _fits(run: Run, machine: Machine) -> bool:
    """Whether the run is comfortable; it is read for a card only if it may fit there."""
    return _may_fit(run, machine) and is_comfortable(run, machine)


def _may_fit(run: Run, machine: Machine) -> bool:
    """Whether the run may survive, for all that the tape tells that asked no card."""
    limit = usable_bytes(machine, overhead(machine.gpu, run.world_size))
    return _passes(run, machine, limit * (100 + APART_PERCENT) // 100)


def _passes(run: Run, machine: Machine, limit: int) -> bool:
    """Whether the tape that asked no card survives under a limit."""
    if allocated_bytes(run) > limit:
        return False
    return played(run, None, limit_bytes=limit, expandable=machine.expandable).refusal is None


def _sized(gpu: Gpu) -> str:
    return f"{gpu.name} ({gpu.total_bytes / GIB:.1f})"
