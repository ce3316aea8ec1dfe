"""Every measured or copied constant of the memory model, with where it comes from. Bytes."""

from __future__ import annotations

MIB = 1 << 20

# An A100's streaming multiprocessors, for a card that is only a size. It decides nothing but
# LayerNorm's partial sums beyond 65,536 tokens.
DEFAULT_SM_COUNT = 108

# aten/src/ATen/native/cuda/layer_norm_kernel.cu: beyond so many rows, narrow layers sum the
# gradients of weight and bias in partial blocks of 32 rows.
LAYER_NORM_PARTIAL_TOKENS = 64 * 1024

# aten/src/ATen/native/cuda/Embedding.cu: up to so many indices no sorting is needed. The scratch
# of cub's radix sort (twice the ids plus a constant) and of its scans is approximate.
EMBEDDING_SORT_TOKENS = 3072
EMBEDDING_SORT_BYTES = 64 * 1024
EMBEDDING_SCAN_BYTES = 16 * 1024

# aten/src/ATen/native/cuda/ForeachReduceOp.cu: clip_grad_norm_ reduces chunks of so many elements.
GRAD_NORM_CHUNK = 65_536

# torch/nn/parallel/distributed.py: bucket_cap_mb, and a first bucket of 1 MiB so that the
# reduction starts early. Estimates: no oracle covers DDP.
DDP_FIRST_BUCKET_BYTES = 1 * MIB
DDP_BUCKET_BYTES = 25 * MIB

# DDP's own NCCL buffers live outside PyTorch's allocator; see ``NCCL_CONTEXT_BYTES``.
NCCL_CONTEXT_BYTES = 400 * MIB


def cublas_workspace_bytes(compute_capability: tuple[int, int] | None) -> int:
    """cuBLAS's workspace, allocated once by each thread that multiplies.

    PyTorch's default CUBLAS_WORKSPACE_CONFIG: ":4096:2:16:8" (8.125 MiB), ":4096:8" (32 MiB) on
    Hopper (aten/src/ATen/cuda/CublasHandlePool.cpp). Two allocations of 8,519,680 bytes were seen
    on an A100, one per thread (https://erees.dev/transformer-memory/).
    """
    if compute_capability is not None and compute_capability[0] == 9:
        return 32 * MIB
    return 8_519_680
