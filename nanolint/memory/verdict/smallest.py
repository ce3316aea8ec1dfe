"""The smallest card in the catalogue that a run fits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.gpus import abilities
from nanolint.memory.verdict.replay import replay
from nanolint.memory.verdict.verdict import comfortable_limit, is_comfortable
from nanolint.run.run import Attention

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu, Machine
    from nanolint.run.run import Run

# Without flash attention and bfloat16 the run would be another one.
FIRST_CAPABILITY = max(abilities.FLASH, abilities.BFLOAT16)

NOT_FOR_SALE = ("Laptop", "Max-Q")


def smallest_card(run: Run, machine: Machine) -> Gpu | None:
    """The NVIDIA card with the least memory on which ``run`` is comfortable, None if there is none.

    Of cards that carry the same memory, one whose total has been measured comes first. Of a program
    it is the smallest that takes it without giving back what is cached.
    Laptop cards are left out: nobody can put one into the machine at hand.
    Platform and allocator stay those of ``machine``.
    """
    from nanolint.gpus.catalogue import load

    def on(gpu: Gpu) -> Machine:
        return replace(machine, gpu=gpu, count=None, in_use_bytes=0)

    if run.program is None and run.dtype != "float32":
        run = replace(run, attention=Attention.FLASH)
    peak = replay(run).peak
    # A program is read again for each card, seconds for a large one: cards on which it only just
    # might fit, by giving back what it has cached, are passed over.
    needed = peak.allocated_bytes if run.program is None else peak.reserved_bytes
    candidates = (
        gpu for gpu in load() if _is_candidate(gpu) and comfortable_limit(run, on(gpu)) >= needed
    )
    for gpu in sorted(candidates, key=lambda gpu: (gpu.nominal_bytes, gpu.estimated, gpu.name)):
        if is_comfortable(run, on(gpu)):
            return gpu
    return None


def _is_candidate(gpu: Gpu) -> bool:
    capability = gpu.compute_capability
    modern = capability is not None and capability >= FIRST_CAPABILITY
    return gpu.vendor == "nvidia" and modern and not any(word in gpu.name for word in NOT_FOR_SALE)
