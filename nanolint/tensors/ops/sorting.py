"""Sorting, choosing and counting (aten/src/ATen/native/Sorting.cpp, cuda/SortStable.cu)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanolint.tape.torch import BINCOUNT_HOLDS_SINCE, MULTINOMIAL_HOLDS_SINCE
from nanolint.tensors.autograd import record_all
from nanolint.tensors.dtypes import BOOL, FLOAT32, INT64
from nanolint.tensors.layout import like_strides, normalized
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.pointwise import elementwise, extremum
from nanolint.tensors.ops.reductions import extreme, reduced
from nanolint.tensors.ops.sums import reduction
from nanolint.tensors.ops.views import contiguous, detach
from nanolint.tensors.tensor import Tensor, empty
from nanolint.tensors.tracing import traced
from nanolint.tensors.unknown import DataDependent, NotModelled

if TYPE_CHECKING:
    from nanolint.tensors.dtypes import Dtype

VALUE_AND_PLACE = 16  # bytes that a thread carries along


class Chosen(NamedTuple):
    """The results of ``torch.return_types``: values and indices."""

    values: Tensor
    indices: Tensor


def _chosen(x: Tensor, values: Tensor, indices: Tensor) -> Chosen:
    """The gradient of the values is scattered into zeros."""
    shape, role = x.shape, x.role.gradient

    def backward(g: Tensor, _of_indices: None, _indices: Tensor) -> list[Tensor | None]:
        return [empty(g.device, shape, g.dtype, role)]

    record_all((values, indices), (x,), backward, indices)
    return Chosen(values, indices)


@traced
def topk(x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Chosen:
    """``x.topk(k)``."""
    along = normalized(dim, x.ndim)
    shape = (*x.shape[:along], k, *x.shape[along + 1 :])
    values = empty(x.device, shape, x.dtype, x.role.made("largest"))
    indices = empty(x.device, shape, INT64, x.role.made("indices"))
    in_order = contiguous(x.detach())
    del in_order
    return _chosen(x, values, indices)


@traced
def sort(x: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Chosen:
    """``x.sort()``."""
    strides = like_strides(x.shape, x.strides)
    values = empty(x.device, x.shape, x.dtype, x.role.made("sorted"), strides)
    indices = empty(x.device, x.shape, INT64, x.role.made("indices"), strides)
    numbers = empty(x.device, (x.shape[dim],), INT64, x.role.made("indices"))
    del numbers
    return _chosen(x, values, indices)


def argsort(x: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """``x.argsort()``: a sort whose values are let go."""
    return sort(detach(x), dim, descending, stable).indices


@traced
def max(x: Tensor, dim: int | Tensor | None = None, keepdim: bool = False) -> Tensor | Chosen:
    """``x.max()``, ``x.max(dim)``, ``torch.max(x, other)``."""
    if dim is None:
        return extreme(x)
    if isinstance(dim, Tensor):
        return extremum(x, dim, ops.MAXIMUM)
    over = (normalized(dim, x.ndim),)
    shape = reduced(x.shape, over, keepdim)
    values = empty(x.device, shape, x.dtype, x.role.made("maximum"))
    indices = empty(x.device, shape, INT64, x.role.made("indices"))
    reduction(x, over, accumulator=VALUE_AND_PLACE)
    return _chosen(x, values, indices)


@traced
def min(x: Tensor, dim: int | Tensor | None = None, keepdim: bool = False) -> Tensor | Chosen:
    """``x.min()``, ``x.min(dim)``, ``torch.min(x, other)``."""
    return max(x, dim, keepdim)


@traced
def kthvalue(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Chosen:
    """``torch.kthvalue``."""
    in_order = contiguous(x.detach())
    shape = reduced(x.shape, (normalized(dim, x.ndim),), keepdim)
    values = empty(x.device, shape, x.dtype, x.role.made("k-th smallest"))
    indices = empty(x.device, shape, INT64, x.role.made("indices"))
    del in_order
    return _chosen(x, values, indices)


@traced
def cummax(x: Tensor, dim: int) -> Chosen:
    """``torch.cummax`` and ``cummin``."""
    values = empty(x.device, x.shape, x.dtype, x.role.made("maximum"))
    indices = empty(x.device, x.shape, INT64, x.role.made("indices"))
    in_order = contiguous(x.detach())
    del in_order
    return _chosen(x, values, indices)


cummin = cummax


@traced
def argmax(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """``x.argmax(dim)``."""
    over = tuple(range(x.ndim)) if dim is None else (normalized(dim, x.ndim),)
    found = empty(x.device, reduced(x.shape, over, keepdim), INT64, x.role.made("indices"))
    source = contiguous(x.detach()) if dim is None else x  # all of it in one row
    reduction(source, over, accumulator=VALUE_AND_PLACE)
    return found


@traced
def argmin(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """``x.argmin(dim)``."""
    return argmax(x, dim, keepdim)


@traced
def multinomial(x: Tensor, num_samples: int, replacement: bool = False) -> Tensor:
    """``torch.multinomial``: one exponential draw an element, divided, and the best taken.

    Several are found in sums, or by topk, which take more.
    """
    if num_samples != 1:
        raise NotModelled(f"multinomial of {num_samples} samples")
    samples = empty(x.device, (*x.shape[:-1], num_samples), INT64, x.role.made("samples"))
    bounds = [_scalar(x, x.dtype) for _ in range(2)]
    in_order = contiguous(x.detach())
    del in_order
    compared = [_scalar(x, BOOL) for _ in range(2)]
    valid = _scalar(x, BOOL)
    del compared
    if x.device.release < MULTINOMIAL_HOLDS_SINCE:
        bounds.clear()
    sums = empty(x.device, x.shape[:-1], x.dtype, x.role.made("sum"))
    zero = elementwise(BOOL, ops.EQ, sums)
    empty_row = _scalar(x, BOOL)
    del sums, zero
    _scalar(x, BOOL)
    draws = empty(x.device, x.shape, x.dtype, x.role.made("draws"))
    del bounds, valid, empty_row, draws
    return samples


def _scalar(x: Tensor, dtype: Dtype) -> Tensor:
    return empty(x.device, (), dtype, x.role.made("number"))


@traced
def one_hot(x: Tensor, num_classes: int = -1) -> Tensor:
    """``F.one_hot``. Raises DataDependent if the number of classes is not given."""
    if num_classes < 0:
        raise DataDependent("one_hot without num_classes")
    return empty(x.device, (*x.shape, num_classes), INT64, x.role.made("one-hot"))


@traced
def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """``torch.bincount``, as long as no value reaches ``minlength``.

    Raises DataDependent if that is not given.
    """
    if not minlength:
        raise DataDependent("bincount without minlength")
    dtype: Dtype = INT64 if weights is None else FLOAT32
    bounds: list[Tensor | None] = []
    for _ in range(2):
        bound = _scalar(x, x.dtype)
        bounds.append(bound if x.device.release >= BINCOUNT_HOLDS_SINCE else None)
        del bound
    out = empty(x.device, (minlength,), dtype, x.role.made("counts"))
    del bounds
    return out
