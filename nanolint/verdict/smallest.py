"""The smallest card in the catalogue that a run fits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.recording.recording import allocated_bytes, recorded
from nanolint.verdict.ladder import is_modern, on_modern_card
from nanolint.verdict.verdict import comfortable_limit, is_comfortable, passes

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu, Machine
    from nanolint.run.run import Run

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
