"""cuDNN's attention, which PyTorch prefers on Hopper: allocated for, and not planned.

Its library plans for a card that is there. What it takes for itself was measured on one, see
``nanolint/tensors/ops/attention_kernels.py``.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch

SINCE = (2, 11)  # PyPI's wheels before have a cuDNN that PyTorch does not prefer
WORKSPACE_BYTES = 256

_implementations: list[Any] = []  # which are there as long as their library is


def attend_by_cudnn() -> None:
    """Have cuDNN's attention allocate what it does on a card, or PyTorch not take it."""
    major, minor = (int(part) for part in torch.__version__.split(".")[:2])
    if (major, minor) >= SINCE:
        library = torch.library.Library("aten", "IMPL")
        _implementations.append(library)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that PyTorch has its own is known
            library.impl("_scaled_dot_product_cudnn_attention", _forward, "CUDA")
            library.impl("_scaled_dot_product_cudnn_attention_backward", _backward, "CUDA")
    elif hasattr(torch.backends.cuda, "enable_cudnn_sdp"):
        torch.backends.cuda.enable_cudnn_sdp(False)


def _forward(
    query: Any, key: Any, value: Any, _bias: Any, compute_log_sumexp: bool, *_: Any, **__: Any
) -> tuple[Any, ...]:
    seed, offset = (query.new_empty((), dtype=torch.int64) for _ in range(2))
    out = _laid_out_as(query, (*query.shape[:-1], value.shape[-1]))
    rows = (*query.shape[:-1], 1) if compute_log_sumexp else (0,)
    sums = query.new_empty(rows, dtype=torch.float32)
    query.new_empty(WORKSPACE_BYTES, dtype=torch.uint8)
    return out, sums, None, None, query.shape[2], key.shape[2], seed, offset, None


def _backward(grad: Any, query: Any, key: Any, value: Any, *_: Any, **__: Any) -> tuple[Any, ...]:
    found = tuple(torch.empty_like(each) for each in (query, key, value))
    copied = grad if grad.stride(-1) == 1 else grad.contiguous()
    batch, heads, length, width = query.shape
    nbytes = 4 * batch * heads * length * (width + 1) + WORKSPACE_BYTES
    if key.shape[1] != heads:
        nbytes += 4 * batch * heads * key.shape[2] * width
    query.new_empty(nbytes, dtype=torch.uint8)
    del copied
    return found


def _laid_out_as(query: Any, shape: tuple[int, ...]) -> Any:
    """A tensor of ``shape`` whose dimensions lie in memory in the order of those of ``query``."""
    if query.shape == shape:
        return torch.empty_like(query)
    order = sorted(range(len(shape)), key=query.stride, reverse=True)
    made = query.new_empty([shape[place] for place in order])
    return made.permute([order.index(place) for place in range(len(shape))])
