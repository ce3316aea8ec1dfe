"""A recorded profile: the tape of a project's run as a function of its micro-batch.

A profile speaks of the files and settings that it names, and of nothing else. How it is kept in a
file is in ``nanolint/run/profile_file.py``.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST_SIZE = 1 << 50  # bytes, of one allocation
LARGEST_BATCH = 10**6
MOST_STEPS = 4  # micro-steps that are traced for each optimizer step
COMPONENTS = (
    *("parameters", "gradients", "optimizer", "weight_copies"),
    *("activations", "logits_and_loss", "inputs", "workspace"),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """One sort of allocation: its size by the micro-batch, its line of source, what it is for.

    >>> Kind(1, (512, 3072), "model.py:10 x = self.wte(idx)", "activations").size(4)
    12800
    """

    divisor: int
    coefficients: tuple[int, ...]  # of B to the power 0, 1, 2
    name: str
    component: str

    def size(self, batch_size: int) -> int:
        """Bytes as they are requested, with a micro-batch of ``batch_size`` sequences."""
        total: int = sum(each * batch_size**power for power, each in enumerate(self.coefficients))
        return min(max(0, -(-total // self.divisor)), LARGEST_SIZE)


@dataclass(frozen=True, slots=True)
class Regime:
    """Micro-batches from ``low`` to ``high`` whose runs have the same events.

    ``events`` are numbers of kinds for allocations; ``~n`` releases the n-th youngest block that is
    alive, the youngest being the 0th. ``phases`` are (number of events before it, phase).
    ``micro_steps`` is how many were traced for each optimizer step, see ``represented``.
    """

    low: int
    high: int
    micro_steps: int
    traced: tuple[int, ...]  # the micro-batches that were run
    events: tuple[int, ...]
    phases: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A micro-batch that was traced only to see how far the profile is off: bytes too many."""

    batch_size: int
    micro_steps: int
    allocated_bytes: int
    reserved_bytes: int


@dataclass(frozen=True, slots=True)
class Profile:
    """All that a profile says. Settings and digests are texts: ``repr`` and SHA-256."""

    traced: str  # the day: "2026-11-20"
    command: str  # what to trace again
    torch: str  # "2.13.0+cu130"
    capability: tuple[int, int]
    sm_count: int
    world_size: int
    ranked: bool  # whether the environment had RANK and WORLD_SIZE, as by torchrun
    script: str  # relative to the project, as the files are
    files: Mapping[str, str]
    settings: Mapping[str, str]
    micro_batch: str  # the keys that it is a function of
    accumulation: str | None
    error_per_mille: int  # the largest error of a held-out micro-batch
    held_out: tuple[HeldOut, ...]
    kinds: tuple[Kind, ...] = field(repr=False)
    regimes: tuple[Regime, ...] = field(repr=False)
    assumes: tuple[str, ...] = ()  # what a stand-in decided when it was traced

    def ranges(self, micro_steps: int) -> list[tuple[int, int]]:
        """The micro-batches that are known with so many micro-steps, from the lowest on."""
        steps, found = represented(micro_steps), list[tuple[int, int]]()
        for low, high in sorted(
            (each.low, each.high) for each in self.regimes if each.micro_steps == steps
        ):
            if found and found[-1][1] + 1 == low:
                low = found.pop()[0]
            found.append((low, high))
        return found

    def regime(self, batch_size: int, micro_steps: int) -> Regime | None:
        """The one that a run belongs to; None where nothing like it was traced."""
        steps = represented(micro_steps)
        for each in self.regimes:
            if each.micro_steps == steps and each.low <= batch_size <= each.high:
                return each
        return None

    @property
    def release(self) -> tuple[int, int]:
        """The line of PyTorch: (2, 13)."""
        major, minor, *_ = self.torch.split(".")
        return int(major), int(minor)


def represented(micro_steps: int) -> int:
    """How many are traced for so many: from the third on, memory repeats with every second one."""
    return micro_steps if micro_steps <= MOST_STEPS else MOST_STEPS - micro_steps % 2
