"""What PyTorch decides by the card it finds: bfloat16 support, and the attention kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.run import Attention

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu

AMPERE = (8, 0)
VOLTA = (7, 0)
MAXWELL = (5, 0)

# torch.cuda.is_bf16_supported() counts emulation since 2.3: it then asks whether a bfloat16
# tensor can be created, and every CUDA card can. 2.2.2 says False on a V100 (pytorch issue 124996).
EMULATION_COUNTS_SINCE = (2, 3)

FLASH_MAX_HEAD_SIZE = 256  # sdp_utils.cpp, check_head_dim_size_flash


def bfloat16_supported(
    gpu: Gpu | None, torch_version: tuple[int, int] | None, *, counts_emulation: bool = True
) -> bool:
    """What ``torch.cuda.is_bf16_supported()`` answers on ``gpu``; on an unknown card, yes."""
    if gpu is None or gpu.compute_capability is None:
        return True  # ROCm always says yes; a bare size is taken for a modern card
    if gpu.compute_capability >= AMPERE:
        return True
    return counts_emulation and (torch_version is None or torch_version >= EMULATION_COUNTS_SINCE)


def attention_kernel(gpu: Gpu | None, *, dtype: str, head_size: int, dropout: bool) -> Attention:
    """The first kernel that scaled_dot_product_attention may use in training.

    The conditions are those of PyTorch's sdp_utils.cpp. An unknown card is taken for a modern one.
    """
    capability = (gpu.compute_capability if gpu else None) or AMPERE
    half = dtype != "float32"
    if half and capability >= AMPERE and _flash_takes(head_size, capability, dropout=dropout):
        return Attention.FLASH
    if _efficient_takes(head_size, capability, dtype):
        return Attention.EFFICIENT
    return Attention.MATH


def _flash_takes(head_size: int, capability: tuple[int, int], *, dropout: bool) -> bool:
    if head_size > FLASH_MAX_HEAD_SIZE:
        return False
    # Cards with less shared memory per SM lack the backward pass for large heads.
    small = (8, 6) <= capability <= (8, 9) or capability[0] == 12
    return not (small and head_size > 192 and (head_size <= 224 or dropout))


def _efficient_takes(head_size: int, capability: tuple[int, int], dtype: str) -> bool:
    if capability < MAXWELL or (dtype == "bfloat16" and capability < AMPERE):
        return False
    half = dtype != "float32"
    if capability >= AMPERE:
        alignment = 8 if half else 4
    else:
        alignment = 8 if half and capability >= VOLTA else 1
    return head_size % alignment == 0
