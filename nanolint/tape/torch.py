"""What PyTorch allocates for itself: constants with where each comes from, and facts of releases.

Constants are measured or copied, in bytes. Facts are each a named difference between releases in
what a run allocates, found by running the releases themselves on a CUDA without a card
(docs/memory-model.md, "Releases of PyTorch"). A version is the first two numbers of a release; a
fact holds from the first release that is named, or up to the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nanolint.run.coverage import OLDEST_BLOCK_FIRST
from nanolint.units import MIB

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.gpus.gpu import Gpu

Version: TypeAlias = tuple[int, int]

# aten/src/ATen/cuda/CublasHandlePool.cpp, parseChosenWorkspaceSize: the major compute capabilities
# that get ":4096:8", 32 MiB, from a release on (pull requests 175344, 189312 of pytorch/pytorch).
LARGE_WORKSPACE: tuple[tuple[Version, frozenset[int]], ...] = (
    ((2, 14), frozenset({9, 10, 11, 12})),
    ((2, 12), frozenset({9, 10, 12})),
    ((0, 0), frozenset({9})),
)
LARGE_WORKSPACE_BYTES = 32 * MIB
# ":4096:2:16:8". Two allocations of it were seen on an A100 (https://erees.dev/transformer-memory/).
WORKSPACE_BYTES = 8_519_680

# In these releases a product that adds a bias goes to cuBLASLt with a workspace of its own; else it
# does not, or shares cuBLAS's. Seen in the traced allocations, and on an H200 with 2.11.
OWN_BIAS_WORKSPACE = frozenset({(2, 9), (2, 10), (2, 11)})
BIAS_WORKSPACE_BYTES = MIB
# Up to the first and from the second of these releases each such product makes that workspace for
# itself, and no other. Seen in 2.2 to 2.8 and in 2.15, not in 2.12 and 2.13, for capability 8.0.
PASSING_BIAS_WORKSPACE: tuple[Version, Version] = ((2, 8), (2, 15))
# aten/src/ATen/native/cuda/Blas.cpp, addmm: from this release on so is what adds a matrix of half
# precision, as Muon does. Seen in 2.15, not in 2.13; what is written in place goes to cuBLAS.
MATRICES_ADDED_BY_LT_SINCE: Version = (2, 15)

# From this release on a product allocates its workspace and gives it back (pull request 194311).
WORKSPACE_GIVEN_BACK_SINCE: Version = (2, 15)

# torch/_native/ops/bmm_outer_product: from this release on a batched product of one row and one
# column is a Triton kernel, which takes no workspace and reads any strides. Seen in 2.13 to 2.15.
OUTER_PRODUCTS_BY_TRITON_SINCE: Version = (2, 13)

# torch/_native/ops: what these packages change, if they are installed. The first row that is not
# newer than a release holds. (Sums and products of 2.15 want PYTORCH_SUM_INNER_TREE besides.)
NATIVE_OPERATIONS: tuple[tuple[Version, dict[str, str]], ...] = (
    (
        (2, 15),
        {
            "nvidia-cutlass-dsl": "rms_norm, scatter_add, topk and linear_cross_entropy",
            "nvmath-python": "_foreach_mm and linalg.polar",
        },
    ),
    (
        (2, 14),
        {
            "nvidia-cutlass-dsl": "rms_norm, scatter_add, sum and topk",
            "nvmath-python": "_foreach_mm and linalg.polar",
        },
    ),
    (
        (2, 13),
        {"nvidia-cutlass-dsl": "rms_norm, scatter_add and topk", "nvmath-python": "_foreach_mm"},
    ),
    ((0, 0), {}),
)

# torch/_functorch/partitioners.py, solve_min_cut: what a checkpoint makes is computed again by the
# compiled backward pass, whatever else the cut keeps. What 2.4 makes of the marks was not compared.
CHECKPOINTS_COMPILED_SINCE: Version = (2, 5)

# aten/src/ATen/native/cuda/SummaryOps.cu: bincount holds the smallest and the largest value to its
# end; before, each goes once it is read. Seen in 2.13 and 2.15, not in 2.8 and 2.12.
BINCOUNT_HOLDS_SINCE: Version = (2, 13)

# aten/src/ATen/native/Distributions.cpp: multinomial holds its two bounds to its end; before, they
# go with the comparisons of them. Seen in 2.12 to 2.15, not in 2.8 to 2.10.
MULTINOMIAL_HOLDS_SINCE: Version = (2, 12)

# The random state that fused attention saves: from these releases on the card, 1 KiB a layer;
# before that on the host (torch/_meta_registrations.py and the traced allocations of each release).
FLASH_STATE_ON_CARD_SINCE: Version = (2, 7)
EFFICIENT_STATE_ON_CARD_SINCE: Version = (2, 14)

# aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, check_prefer_cudnn_attention: on cards of
# these generations cuDNN's attention comes first, with a cuDNN above 9.15, which PyPI's wheels have
# from this release on. Seen on an H200 with 2.11 (validation/recorded/gpu); 2.10 asks, too, and has
# an older cuDNN.
CUDNN_ATTENTION_SINCE: Version = (2, 11)
CUDNN_ATTENTION_GENERATIONS = frozenset({9, 10})
# The same file, check_cudnn_dropout: from this release on only of multiples of 1/16.
CUDNN_DROPOUT_IN_SIXTEENTHS_SINCE: Version = (2, 12)
# The same file, check_cudnn_d256_bprop_head_dim: from this release on heads that learn and are
# wider than 128 elements have 256.
CUDNN_WIDE_HEADS_SINCE: Version = (2, 14)

# aten/src/ATen/native/layer_norm.cpp: F.rms_norm is one kernel, before that six operations; and
# aten/src/ATen/autocast_mode.h: autocast runs it in float32.
RMS_NORM_FUSED_SINCE: Version = (2, 9)
RMS_NORM_FLOAT32_SINCE: Version = (2, 12)

# aten/src/ATen/autocast_mode.cpp, cached_cast (pull request 165068): a weight's copy requires a
# gradient under no_grad, too, so that a product with it folds its batch, and the weight learns by
# what uses it later. Seen in 2.11, not in 2.10.
CACHED_CASTS_LEARN_SINCE: Version = (2, 11)

# Memory-efficient attention makes its random state before its results. Seen in 2.15, not in 2.13;
# the rows of 2.14 do not tell.
EFFICIENT_STATE_FIRST_SINCE: Version = (2, 14)

# aten/src/ATen/native/transformers/cuda/sdp_utils.cpp: memory-efficient attention takes keys that
# several heads share; before, they are written out. Seen in 2.15, not in 2.13.
EFFICIENT_SHARES_HEADS_SINCE: Version = (2, 14)

# aten/src/ATen/native/cuda/EmbeddingBackwardKernel.cu: few rows, each of many indices, are added up
# in place (pull request 172454, of January 2026). Seen in 2.13 and 2.15, not in 2.9.
EMBEDDING_ADDS_IN_PLACE_SINCE: Version = (2, 11)

# aten/src/ATen/native/cuda/group_norm_kernel.cu: the moments of half precision are computed in
# float32 first. Seen in 2.13 and 2.15, not in 2.9.
GROUP_NORM_WIDE_SINCE: Version = (2, 10)
# aten/src/ATen/native/group_norm.cpp: channels that move fastest stay so on the card, too, and of
# single places no sums are made. Seen in 2.15, not in 2.13.
GROUP_NORM_LAST_SINCE: Version = (2, 14)

# c10/cuda/CUDACachingAllocator.cpp: only this release's error names the variable's new name.
NEW_VARIABLE_IN_ERROR: Version = (2, 10)

# torch/nn/parameter.py: torch.nn.Buffer, which a module registers where it is set on it.
BUFFER_SINCE: Version = (2, 5)

# torch/nn/functional.py: the loss without the logits, in chunks where options= are given.
LINEAR_CROSS_ENTROPY_SINCE: Version = (2, 13)

# torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, collective (pull request 148590): from this
# release on a collective that runs beside the script holds its tensors until it is waited for, or
# until its watchdog has seen its end and the next collective begins. Before, the allocator is told
# of NCCL's stream, and nobody holds them.
COLLECTIVES_HOLD_SINCE: Version = (2, 8)

# torch/distributed/distributed_c10d.py, _register_builtin_nccl_backend: from this release on "nccl"
# is torch/csrc/distributed/c10d/nccl2. A collective that runs next to the script holds only what it
# reads, until it is waited for or asked for its future; lists are not copied flat; every barrier
# uses one number that the first one makes.
NCCL2_SINCE: Version = (2, 15)

# ProcessGroupNCCL.cpp, barrier: a number that the first one makes stays. Seen in 2.9, not in 2.13.
BARRIER_LETS_GO_SINCE: Version = (2, 13)


def native_doubts(named: Iterable[tuple[str, str]], version: Version) -> Iterator[str]:
    """Returns what the packages that a file of the project names change in a release."""
    changed = next(each for since, each in NATIVE_OPERATIONS if version >= since)
    release = ".".join(map(str, version))
    for package, file in named:
        if package in changed:
            yield (
                f"{file} names {package}: if it is installed, PyTorch {release} has "
                f"other kernels for {changed[package]}, whose memory is not known"
            )


def workspace_bytes(version: Version, gpu: Gpu | None) -> int:
    """cuBLAS's workspace, by the default of CUBLAS_WORKSPACE_CONFIG."""
    major = gpu.compute_capability[0] if gpu and gpu.compute_capability else None
    large = next(majors for since, majors in LARGE_WORKSPACE if version >= since)
    return LARGE_WORKSPACE_BYTES if major in large else WORKSPACE_BYTES


def prefers_cudnn_attention(version: Version, generation: int) -> bool:
    """Whether cuDNN's attention comes before all others on a card of this generation."""
    return version >= CUDNN_ATTENTION_SINCE and generation in CUDNN_ATTENTION_GENERATIONS


def bias_workspace_bytes(version: Version) -> int:
    """cuBLASLt's own workspace, which products with a bias take; 0 where there is none."""
    return BIAS_WORKSPACE_BYTES if version in OWN_BIAS_WORKSPACE else 0


def passing_bias_workspace_bytes(version: Version) -> int:
    """cuBLASLt's workspace, where a product with a bias makes it for as long as it is launched."""
    last, first = PASSING_BIAS_WORKSPACE
    return BIAS_WORKSPACE_BYTES if version <= last or version >= first else 0


def keeps_workspace(version: Version) -> bool:
    """Whether each thread that multiplies takes one workspace for good; else each product does,
    for as long as it is launched."""
    return version < WORKSPACE_GIVEN_BACK_SINCE


def takes_oldest_block(version: Version) -> bool:
    """Whether, of free blocks of one size, the oldest is taken and not that of lowest address."""
    return version == OLDEST_BLOCK_FIRST


def variable_in_error(version: Version) -> str:
    """The environment variable that the out-of-memory error advises to set."""
    return "PYTORCH_ALLOC_CONF" if version == NEW_VARIABLE_IN_ERROR else "PYTORCH_CUDA_ALLOC_CONF"


# An A100's streaming multiprocessors and their threads, for a card that is only a size. They
# decide nothing but LayerNorm's partial sums beyond 65,536 tokens and those of biases' gradients.
DEFAULT_SM_COUNT = 108
DEFAULT_SM_THREADS = 2048

# aten/src/ATen/native/cuda/layer_norm_kernel.cu: beyond so many rows, narrow layers sum the
# gradients of weight and bias in partial blocks of 32 rows.
LAYER_NORM_PARTIAL_TOKENS = 64 * 1024

# aten/src/ATen/native/cuda/Embedding.cu: up to so many indices no sorting is needed.
EMBEDDING_SORT_TOKENS = 3072

# aten/src/ATen/native/cuda/ForeachReduceOp.cu: clip_grad_norm_ reduces chunks of so many elements.
GRAD_NORM_CHUNK = 65_536

# torch/nn/parallel/distributed.py: bucket_cap_mb, and a first bucket of 1 MiB so that the
# reduction starts early.
DDP_FIRST_BUCKET_BYTES = 1 * MIB
DDP_BUCKET_BYTES = 25 * MIB

# The context in MiB, measured with kernels loaded (out-of-memory messages: in use - reserved) or
# right after initialisation, and each card's SMs: T4 135 (40), RTX 3060 115-245 (28), RTX 4060
# Laptop 160 (24), RTX 4060 Ti 245 (34), RTX 4070 250 compiled, 197 forward only (46), L4 255 (58),
# RTX 3090 255-315 (82), V100 319 (80), RTX 4090 384 bare, 460-500 training (128), RTX 6000 Ada 426
# bare (142), RTX 5090 506 bare, 595-670 training (170), H100 614 (132), H200 665, and 742-767 with
# PyTorch 2.11 (132; validation/recorded/gpu/h200.json), B200 710 (148). Each lies within 3 MiB
# (large dies 4.5) per SM plus the interval for kernels.
CONTEXT_PER_SM_BYTES = 3 * MIB
CONTEXT_PER_SM_BYTES_LARGE = 9 * MIB // 2
CONTEXT_KERNELS_BYTES = (0, 112 * MIB, 165 * MIB)  # least, expected, most
CONTEXT_KERNELS_BYTES_LARGE = (0, 112 * MIB, 175 * MIB)
SM_PER_GIB = 4  # of consumer cards, for a card that is only a size; an estimate

# NCCL's buffers per process: 8 ranks on A100 hold 860 MiB in all, on H100 1504-1519 MiB. An
# estimate: no oracle covers NCCL. Least, expected, most.
NCCL_CONTEXT_BYTES = (300 * MIB, 460 * MIB, 900 * MIB)

# Windows and WSL report the whole card, but WDDM keeps part of it. An estimate.
WDDM_KEPT_PERCENT = 5

# What the replay may be off on reserved bytes: eager differs from a GPU by kernel scratch only,
# compiled by Inductor's choices.
MODEL_ERROR_EAGER_PERCENT = 2
MODEL_ERROR_COMPILED_PERCENT = 5
# Of published peaks of real cards: see the table in docs/trace.md.
TRACE_ERROR_PER_MILLE = 2
