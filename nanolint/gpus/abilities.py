"""What a card can do, by its compute capability: the one place that knows.

A card that is only a size, and one of another maker, is taken for a modern one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu

Capability: TypeAlias = tuple[int, int]

MAXWELL: Capability = (5, 0)
VOLTA: Capability = (7, 0)
AMPERE: Capability = (8, 0)

BFLOAT16 = AMPERE  # older cards only emulate it
TENSOR_CORES = VOLTA
TRITON = VOLTA  # torch.compile's code generator takes nothing older

# aten/src/ATen/native/transformers/cuda/sdp_utils.cpp.
FLASH = AMPERE  # check_sm_version
MEMORY_EFFICIENT = MAXWELL  # check_mem_efficient_hardware_support
FLASH_MAX_HEAD_SIZE = 256  # check_head_dim_size_flash

# Turing's small chips (TU116, TU117) have compute capability 7.5 and no tensor cores.
_WITHOUT_TENSOR_CORES = re.compile(r"\b(GTX 16\d\d|MX ?\d{3}|T\d{3,4}|T[12]000|CMP 30HX)\b")


def capability_of(gpu: Gpu | None) -> Capability:
    """The compute capability of ``gpu``; a modern one where it is not known."""
    return (gpu.compute_capability if gpu else None) or AMPERE


def has_bfloat16(gpu: Gpu | None) -> bool:
    """Whether the card computes in bfloat16 itself."""
    return capability_of(gpu) >= BFLOAT16


def has_tensor_cores(gpu: Gpu) -> bool:
    """Whether the card is known to multiply half-precision matrices in hardware."""
    known = gpu.compute_capability
    too_old = known is None or known < TENSOR_CORES
    return not (too_old or _WITHOUT_TENSOR_CORES.search(gpu.name))


def has_triton(gpu: Gpu | None) -> bool:
    """Whether torch.compile takes the card."""
    return capability_of(gpu) >= TRITON


def compiles(gpu: Gpu | None, dtype: str) -> bool:
    """Whether torch.compile compiles a model that runs in ``dtype``.

    Inductor skips bfloat16 that is emulated, with a warning, and the model runs eagerly.
    """
    return has_triton(gpu) and (dtype != "bfloat16" or has_bfloat16(gpu))


def threads_per_multiprocessor(gpu: Gpu | None) -> int:
    """The threads that one multiprocessor holds at once.

    CUDA C++ Programming Guide, technical specifications per compute capability.
    """
    capability = capability_of(gpu)
    if capability == (7, 5):
        return 1024
    small = capability in ((8, 6), (8, 7), (8, 9)) or capability >= (11, 0)
    return 1536 if small else 2048


def has_flash(gpu: Gpu | None, *, dtype: str, head_size: int, dropout: bool) -> bool:
    """Whether FlashAttention takes heads of ``head_size`` in training."""
    capability = capability_of(gpu)
    if dtype == "float32" or capability < FLASH or head_size > FLASH_MAX_HEAD_SIZE:
        return False
    # Cards with less shared memory per SM lack the backward pass for large heads.
    small = (8, 6) <= capability <= (8, 9) or capability[0] == 12
    return not (small and head_size > 192 and (head_size <= 224 or dropout))


def has_memory_efficient(gpu: Gpu | None, *, dtype: str, head_size: int) -> bool:
    """Whether memory-efficient attention takes heads of ``head_size`` in training."""
    capability = capability_of(gpu)
    if capability < MEMORY_EFFICIENT or (dtype == "bfloat16" and not has_bfloat16(gpu)):
        return False
    half = dtype != "float32"
    if capability >= AMPERE:
        alignment = 8 if half else 4
    else:
        alignment = 8 if half and capability >= VOLTA else 1
    return head_size % alignment == 0


def has_large_context(gpu: Gpu) -> bool:
    """Whether CUDA's context is as large as on the server dies of Hopper and Blackwell."""
    return gpu.compute_capability in ((9, 0), (10, 0))
