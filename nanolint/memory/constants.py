"""Every measured or copied constant of the memory model, with where it comes from. Bytes."""

from __future__ import annotations

MIB = 1 << 20

# An A100's streaming multiprocessors, for a card that is only a size. It decides nothing but
# LayerNorm's partial sums beyond 65,536 tokens.
DEFAULT_SM_COUNT = 108


def cublas_workspace_bytes(compute_capability: tuple[int, int] | None) -> int:
    """cuBLAS's workspace, allocated once by each thread that multiplies.

    PyTorch's default CUBLAS_WORKSPACE_CONFIG: ":4096:2:16:8" (8.125 MiB), ":4096:8" (32 MiB) on
    Hopper (aten/src/ATen/cuda/CublasHandlePool.cpp). Two allocations of 8,519,680 bytes were seen
    on an A100, one per thread (https://erees.dev/transformer-memory/).
    """
    if compute_capability is not None and compute_capability[0] == 9:
        return 32 * MIB
    return 8_519_680
