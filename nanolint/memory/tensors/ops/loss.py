"""Softmax and cross-entropy (aten/src/ATen/native/SoftMax.cpp, LossNLL.cpp, cuda/SoftMax.cu)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.tensors.autograd import record
from nanolint.memory.tensors.dtypes import FLOAT16, FLOAT32
from nanolint.memory.tensors.ops.autocast import to_float32
from nanolint.memory.tensors.ops.views import cast, contiguous
from nanolint.memory.tensors.tensor import empty
from nanolint.memory.tensors.tracing import traced

if TYPE_CHECKING:
    from nanolint.memory.tensors.dtypes import Dtype
    from nanolint.memory.tensors.tensor import Tensor


def softmax(x: Tensor, dtype: Dtype | None = None) -> Tensor:
    """``F.softmax``: float32 under autocast. Its result is what it saves."""
    return _softmax(x, dtype or _autocast_type(x), "softmax output", multiplies=True)


def log_softmax(x: Tensor, dtype: Dtype | None = None) -> Tensor:
    """``F.log_softmax``: float32 under autocast."""
    return _softmax(x, dtype or _autocast_type(x), "log_softmax", multiplies=False)


def _autocast_type(x: Tensor) -> Dtype | None:
    return None if x.device.half is None else FLOAT32


@traced
def _softmax(x: Tensor, dtype: Dtype | None, label: str, *, multiplies: bool) -> Tensor:
    """``multiplies``: the backward pass makes a buffer of the gradient times the result."""
    made = dtype or x.dtype
    # One kernel reads float16 and writes float32.
    source = x if x.dtype is FLOAT16 and made is FLOAT32 else cast(x, made)
    out = empty(x.device, x.shape, made, x.role.made(label, x.role.dims))
    in_order = contiguous(source)
    del in_order
    before, role = source.dtype, x.role.gradient

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        found = empty(g.device, out.shape, before, role)
        copies = contiguous(g), contiguous(out)
        if multiplies:
            product = empty(g.device, out.shape, g.dtype, out.role.made("gradient times softmax"))
            del product
        del copies
        return [found]

    return record(out, (source,), backward, out)


def cross_entropy(logits: Tensor, targets: Tensor, *, reduces: bool = True) -> Tensor:
    """``F.cross_entropy`` of (N, V) logits and (N) classes; ``reduces`` to a mean or a sum.

    log_softmax in the type of the logits, nll_loss in float32 under autocast.
    """
    return nll_loss(log_softmax(logits, logits.dtype), targets, reduces=reduces)


@traced
def nll_loss(log: Tensor, targets: Tensor, *, reduces: bool = True) -> Tensor:
    """``F.nll_loss``; without ``reduces`` one loss for each class."""
    wide = to_float32(log, log.role.made("log-probabilities", log.role.dims))
    shape = () if reduces else targets.shape
    loss = empty(log.device, shape, wide.dtype, log.role.made("loss"))
    weight = empty(log.device, (), wide.dtype, log.role.made("total weight of the loss"))

    def backward(g: Tensor, log: Tensor, *_saved: Tensor) -> list[Tensor | None]:
        return [empty(g.device, log.shape, log.dtype, log.role.gradient)]

    return record(loss, (wide,), backward, wide, targets, weight)
