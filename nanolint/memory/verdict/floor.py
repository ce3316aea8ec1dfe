"""What a run takes whatever its micro-batch: the floor under every verdict on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.recording import state_bytes
from nanolint.memory.tape import Phase
from nanolint.memory.verdict.fit import smallest
from nanolint.memory.verdict.replay import replay

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Run


def step_floor_bytes(run: Run, gpu: Gpu) -> int:
    """What the optimizer step allocates at its peak with the smallest micro-batch that is known.

    Parameters, gradients, the optimizer's states and what its step makes for itself: no
    activation is left by then, so no micro-batch takes less. 0 where nothing is trained.
    """
    if run.eval_only or not run.on_gpu:
        return 0
    single = smallest(run)
    phases = {} if single is None else dict(replay(single, gpu).phases)
    return max(state_bytes(run), phases.get(Phase.OPTIMIZER, 0))
