"""What a card can do, by its compute capability: the one place that knows.

A card that is only a size, and one of another maker, is taken for a modern one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nanolint.regex import lazily

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu

Capability: TypeAlias = tuple[int, int]

MAXWELL: Capability = (5, 0)
VOLTA: Capability = (7, 0)
AMPERE: Capability = (8, 0)

BFLOAT16 = AMPERE  # older cards only emulate it
TENSOR_CORES = VOLTA
TRITON = VOLTA  # torch.compile's code generator takes nothing older
FLOAT8: Capability = (8, 9)  # aten/src/ATen/native/cuda/Blas.cpp, _scaled_mm_allowed_device

# aten/src/ATen/native/transformers/cuda/sdp_utils.cpp.
FLASH = AMPERE  # check_sm_version
MEMORY_EFFICIENT = MAXWELL  # check_mem_efficient_hardware_support
FLASH_MAX_HEAD_SIZE = 256  # check_head_dim_size_flash

# Dense half-precision operations of one multiprocessor in a cycle, sums in float32. From NVIDIA's
# white papers of the architectures: the peak rates of their flagships over multiprocessors and
# clock (V100 125 TFLOPS, T4 65, A100 312, RTX A6000 155, L40S 362, H100 989, B200 2250,
# RTX PRO 6000 Blackwell 503).
_FLOPS_PER_CYCLE = {
    (7, 0): 1024,
    (7, 5): 1024,
    (8, 0): 2048,
    (8, 6): 1024,
    (8, 9): 1024,
    (9, 0): 4096,
    (10, 0): 8192,
    (10, 3): 8192,
    (12, 0): 1024,
}
# GeForce cards sum in float32 at half that rate (RTX 3090 71 TFLOPS, RTX 4090 165, RTX 5090 210).
_HALVED_ON_GEFORCE = frozenset({(7, 5), (8, 6), (8, 9), (12, 0)})
_GEFORCE = lazily(r"RTX [2-5]0[5-9]0\b.*")

# Turing's small chips (TU116, TU117) have compute capability 7.5 and no tensor cores.
_WITHOUT_TENSOR_CORES = lazily(r"\b(GTX 16\d\d|MX ?\d{3}|T\d{3,4}|T[12]000|CMP 30HX)\b")


def capability_of(gpu: Gpu | None) -> Capability:
    """The compute capability of ``gpu``; a modern one where it is not known."""
    return (gpu.compute_capability if gpu else None) or AMPERE


def has_bfloat16(gpu: Gpu | None) -> bool:
    """Whether the card computes in bfloat16 itself."""
    return capability_of(gpu) >= BFLOAT16


def refuses_float8(gpu: Gpu | None) -> str | None:
    """Why ``torch._scaled_mm`` ends in an error on the card; None where it does not, or may not."""
    capability = gpu.compute_capability if gpu else None
    if gpu is None or capability is None or capability >= FLOAT8:
        return None
    needed, has = (".".join(map(str, each)) for each in (FLOAT8, capability))
    return f"torch._scaled_mm needs compute capability {needed}, and {gpu.name} has {has}"


def has_tensor_cores(gpu: Gpu) -> bool:
    """Whether the card is known to multiply half-precision matrices in hardware."""
    known = gpu.compute_capability
    too_old = known is None or known < TENSOR_CORES
    return not (too_old or _WITHOUT_TENSOR_CORES.search(gpu.name))


def matrix_flops(gpu: Gpu, dtype: str) -> int | None:
    """The most operations a second of its tensor cores in ``dtype``, with float32 sums.

    Multiprocessors, times the clock, times what one does in a cycle. For float32 that is TF32's, as
    train.py allows it. None where one of them is not known, or the card has no such cores.
    """
    capability = gpu.compute_capability
    if capability is None or gpu.sm_count is None or gpu.boost_mhz is None:
        return None
    rate = _FLOPS_PER_CYCLE.get(capability)
    if rate is None or not has_tensor_cores(gpu) or (dtype == "bfloat16" and not has_bfloat16(gpu)):
        return None
    if capability in _HALVED_ON_GEFORCE and _GEFORCE.fullmatch(gpu.name):
        rate //= 2
    if dtype == "float32":
        if capability < AMPERE:
            return None
        rate //= 2
    return gpu.sm_count * gpu.boost_mhz * 1_000_000 * rate


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


def has_small_shared_memory(gpu: Gpu | None) -> bool:
    """Whether a multiprocessor has 100 KiB of shared memory, not 164 or more (from Ampere on).

    CUDA C++ Programming Guide, technical specifications per compute capability.
    """
    capability = capability_of(gpu)
    return capability in ((8, 6), (8, 9)) or capability >= (12, 0)


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
