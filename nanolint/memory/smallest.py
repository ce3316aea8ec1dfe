"""The smallest card in the catalogue that a run fits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.gpus.gpu import Gpu, Target
from nanolint.memory.verdict import Outcome, judge
from nanolint.run.model import Attention

if TYPE_CHECKING:
    from nanolint.run.model import Run

# Before 8.0 there is no flash attention and no bfloat16, so the run would be another one.
FIRST_CAPABILITY = (8, 0)


def smallest_card(run: Run, *, allocator: str = "default") -> Gpu | None:
    """The NVIDIA card with the least memory on which ``run`` is comfortable, None if there is none.

    Laptop cards are left out: nobody can buy one to put into the machine at hand.
    """
    from nanolint.gpus.catalogue import load

    flash = Attention.FLASH if run.dtype != "float32" else run.attention
    run = replace(run, attention=flash)
    cards = sorted(
        (gpu for gpu in load() if _is_candidate(gpu)), key=lambda gpu: (gpu.total_bytes, gpu.name)
    )
    # Ordered by memory, so the first that fits is the smallest; a card's own share (context)
    # grows slower than its memory, which makes a bisection sound enough to start from.
    low, high = 0, len(cards)
    while low < high:
        middle = (low + high) // 2
        if _is_comfortable(run, cards[middle], allocator):
            high = middle
        else:
            low = middle + 1
    return next((gpu for gpu in cards[low:] if _is_comfortable(run, gpu, allocator)), None)


def _is_candidate(gpu: Gpu) -> bool:
    capability = gpu.compute_capability
    modern = capability is not None and capability >= FIRST_CAPABILITY
    return gpu.vendor == "nvidia" and modern and "laptop" not in gpu.name.lower()


def _is_comfortable(run: Run, gpu: Gpu, allocator: str) -> bool:
    return judge(run, Target(gpu), allocator=allocator).outcome is Outcome.COMFORTABLE
