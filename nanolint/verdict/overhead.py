"""The overhead: what a process holds on a card outside PyTorch's allocator.

That is CUDA's context and the loaded kernels.

3 MiB per SM (4.5 on Hopper's and Blackwell's data-centre cards) plus the kernels that a training
run loads. The interval covers the measured figures that constants.py names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanolint.gpus.abilities import has_large_context
from nanolint.tape.constants import (
    CONTEXT_KERNELS_BYTES,
    CONTEXT_KERNELS_BYTES_LARGE,
    CONTEXT_PER_SM_BYTES,
    CONTEXT_PER_SM_BYTES_LARGE,
    NCCL_CONTEXT_BYTES,
    SM_PER_GIB,
)

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu


class Interval(NamedTuple):
    """Bytes: the least, the expected, the most."""

    low: int
    expected: int
    high: int


def overhead(gpu: Gpu, world_size: int = 1) -> Interval:
    """The overhead of one process on ``gpu``; with more processes NCCL's buffers are in it."""
    per_sm, kernels = CONTEXT_PER_SM_BYTES, CONTEXT_KERNELS_BYTES
    if has_large_context(gpu):
        per_sm, kernels = CONTEXT_PER_SM_BYTES_LARGE, CONTEXT_KERNELS_BYTES_LARGE
    base = per_sm * (gpu.sm_count or _usual_sm_count(gpu.total_bytes))
    nccl = NCCL_CONTEXT_BYTES if world_size > 1 else (0, 0, 0)
    return Interval(*(base + k + n for k, n in zip(kernels, nccl, strict=True)))


def _usual_sm_count(total_bytes: int) -> int:
    """For a card that is only a size."""
    return max(20, min(144, SM_PER_GIB * total_bytes >> 30))
