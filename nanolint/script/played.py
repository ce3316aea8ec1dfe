"""How much of a run is played: the repeats that can matter.

Some micro-steps of each of the first optimizer steps (from the second on Adam's state is there, and
with accumulation the gradients are), and some batches per split of each estimate_loss. Allocated
bytes are periodic from the second micro-step of the second optimizer step on. Reserved bytes settle
more slowly, and batches and logits alternate between two places, so that an even accumulation is
played as an even one, an odd as an odd one. What is left out was tried: validation/settling.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.run import Dialect

if TYPE_CHECKING:
    from nanolint.run.run import Run

BATCHES = 2  # of each split of estimate_loss
MICRO_STEPS = (4, 4, 4, 4)  # of the first optimizer steps, at most


def played(micro_steps: int, most: int) -> int:
    """How many of ``micro_steps`` are played: ``most`` or one fewer, to keep odd or even."""
    if micro_steps <= most:
        return max(1, micro_steps)
    return max(1, most - (most - micro_steps) % 2)


def representative(run: Run) -> Run:
    """One run for all those of which the same is played; it repeats nothing in vain."""
    return run.having(
        gradient_accumulation_steps=played(run.micro_steps, max(MICRO_STEPS)) * run.world_size,
        dialect=Dialect.TOTAL,
        simulated_gpus=1,
        eval_iters=max(1, min(run.eval_iters, BATCHES)),
        max_iters=min(run.max_iters, len(MICRO_STEPS)),
        eval_interval=_late(run),
    )


def _late(run: Run) -> int:
    """0, or one that has an evaluation behind the steps that are played."""
    is_reached = 0 < run.eval_interval <= run.max_iters
    return min(run.max_iters, len(MICRO_STEPS)) if is_reached else 0
