"""What a run takes whatever its micro-batch: the floor under every verdict on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.recording.recording import recorded, state_bytes
from nanolint.tape.lasting import lasting
from nanolint.tape.tape import Phase, summits
from nanolint.verdict.search import smallest

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Run
    from nanolint.tape.tape import Tape
    from nanolint.verdict.verdict import Verdict


def step_floor_bytes(run: Run, gpu: Gpu) -> int:
    """What the optimizer step allocates at its peak with the smallest micro-batch that is known.

    Parameters, gradients, the optimizer's states and what its step makes for itself: no
    activation is left by then, so no micro-batch takes less. Without that step where no smaller
    micro-batch is known: the logits may be there still. 0 where nothing is trained.
    """
    if run.eval_only or not run.on_gpu:
        return 0
    least = smallest(run)
    if least is not None and least.batch_size == run.batch_size > 1:
        least = None
    return max(state_bytes(run), step_bytes(least, gpu))


def is_under_floor(verdict: Verdict) -> bool:
    """Whether the card has less than the optimizer step takes with the smallest micro-batch.

    Where the step of the run itself has room, that of a smaller micro-batch, which keeps smaller
    inputs and logits, has it too, and is not asked.
    """
    run, gpu, usable = verdict.run, verdict.target.gpu, verdict.usable_bytes
    if run.eval_only or not run.on_gpu:
        return False
    state = state_bytes(run)
    if state > usable:
        return True
    if step_bytes(run, gpu) <= usable:
        return False
    return step_floor_bytes(run, gpu) > usable


def step_bytes(run: Run | None, gpu: Gpu) -> int:
    """What the optimizer steps of ``run`` allocate at their peak."""
    if run is None:
        return 0
    return recorded(run, gpu).answer(_step_bytes)


@lasting()
def _step_bytes(tape: Tape) -> int:
    return summits(tape, end=len(tape.events)).get(Phase.OPTIMIZER, (0, 0))[0]
