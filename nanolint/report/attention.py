"""Which kernel attends, in a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.run import Attention
from nanolint.tape.torch import prefers_cudnn_attention

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.run.run import Run

CUDNN = "cudnn"


def attention_word(run: Run, target: Machine | None) -> str:
    """``flash``, ``efficient`` or ``math``, or ``cudnn`` where the card prefers that to flash."""
    capability = target.gpu.compute_capability if target else None
    prefers = capability is not None and prefers_cudnn_attention(run.torch, capability[0])
    if not prefers or run.attention is not Attention.FLASH or not run.n_head:
        return run.attention.value  # of a script that is read no head is known, and none is shown
    from nanolint.tensors.ops.cudnn_attention import is_able

    width = run.n_embd // run.n_head
    takes = is_able(width, width, run.dropout, run.torch, learns=True)
    return CUDNN if takes else run.attention.value
