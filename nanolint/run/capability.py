"""What PyTorch decides by the card it finds: bfloat16 support, and the attention kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.gpus import abilities
from nanolint.run.run import Attention

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu

# torch.cuda.is_bf16_supported() counts emulation since 2.3: it then asks whether a bfloat16
# tensor can be created, and every CUDA card can. 2.2.2 says False on a V100 (pytorch issue 124996).
EMULATION_COUNTS_SINCE = (2, 3)
USUAL_HEAD_SIZE = 64


def bfloat16_supported(
    gpu: Gpu | None, torch_version: tuple[int, int] | None, *, counts_emulation: bool = True
) -> bool:
    """What ``torch.cuda.is_bf16_supported()`` answers on ``gpu``; on an unknown card, yes."""
    if abilities.has_bfloat16(gpu):  # and ROCm, which always says yes
        return True
    return counts_emulation and (torch_version is None or torch_version >= EMULATION_COUNTS_SINCE)


def attention_kernel(
    gpu: Gpu | None, *, dtype: str, head_size: int | None, dropout: bool
) -> Attention:
    """The first kernel that scaled_dot_product_attention may use in training; of heads whose size
    is not known, that of usual ones."""
    head_size = USUAL_HEAD_SIZE if head_size is None else head_size
    if abilities.has_flash(gpu, dtype=dtype, head_size=head_size, dropout=dropout):
        return Attention.FLASH
    if abilities.has_memory_efficient(gpu, dtype=dtype, head_size=head_size):
        return Attention.EFFICIENT
    return Attention.MATH
