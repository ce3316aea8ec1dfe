"""The largest, the order, and their places: library calls, scans and reductions by index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.formulas.indices import falling_back, into_zeros
from nanolint.inductor.derive.formulas.reductions import dimensions, reduce
from nanolint.inductor.derive.operations import CALL, POINTWISE, REDUCTION, WITH_PLACES
from nanolint.inductor.inductor import Inductor
from nanolint.tensors.autograd import record, record_all
from nanolint.tensors.device import NotTraced
from nanolint.tensors.dtypes import BOOL, FLOAT32, INT64, UINT8
from nanolint.tensors.layout import like_strides, normalized
from nanolint.tensors.ops.comparison import check, compare
from nanolint.tensors.ops.creation import MADE, create, sorting_bytes
from nanolint.tensors.ops.pointwise import maximum, minimum
from nanolint.tensors.ops.reductions import summed_type
from nanolint.tensors.ops.sorting import Chosen
from nanolint.tensors.ops.views import cast, sizes_of, unsqueeze
from nanolint.tensors.tensor import Tensor
from nanolint.tensors.unknown import DataDependent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.inductor.derive.capture import Capture, Formulas
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.ops.reductions import Dimensions


def _chosen(
    t: Capture, x: Tensor, values: Tensor, indices: Tensor, gone: int | None = None
) -> Chosen:
    """``value_selecting_reduction_backward``: the gradient is scattered into zeros.

    ``gone`` is the dimension that the results do not have, if any.
    """
    shape, role = x.shape, x.role.gradient

    def backward(g: Tensor, _of_indices: None, indices: Tensor) -> list[Tensor | None]:
        places, flow = (each if gone is None else unsqueeze(each, gone) for each in (indices, g))
        return [into_zeros(t, (places,), flow, shape, role, *falling_back(t, flow.dtype))]

    record_all((values, indices), (x,), backward, indices)
    return Chosen(values, indices)


def topk(
    t: Capture, x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Chosen:
    """``aten.topk``, a library call (lowering.py, ``make_fallback``)."""
    along = normalized(dim, x.ndim)
    shape = (*x.shape[:along], k, *x.shape[along + 1 :])
    made = x.role.made
    results = [
        (shape, None, x.dtype, made("largest")),
        (shape, None, INT64, made("indices")),
    ]
    values, indices = t.several("topk", CALL, (x,), results, k, along, largest)
    return _chosen(t, x, values, indices)


def sort(
    t: Capture, x: Tensor, dim: int = -1, descending: bool = False, stable: bool = False
) -> Chosen:
    """``aten.sort``: one kernel, or a library call, with two results."""
    strides, made = like_strides(x.shape, x.strides), x.role.made
    results = [
        (x.shape, strides, x.dtype, made("sorted")),
        (x.shape, strides, INT64, made("indices")),
    ]
    values, indices = t.several("sort", CALL, (x,), results, normalized(dim, x.ndim), descending)
    return _chosen(t, x, values, indices)


def largest(
    t: Capture, x: Tensor, dim: int | Tensor | None = None, keepdim: bool = False
) -> Tensor | Chosen:
    """``aten.max``."""
    return maximum(x, dim) if isinstance(dim, Tensor) else _best(t, "max", x, dim, keepdim)


def smallest(
    t: Capture, x: Tensor, dim: int | Tensor | None = None, keepdim: bool = False
) -> Tensor | Chosen:
    """``aten.min``."""
    return minimum(x, dim) if isinstance(dim, Tensor) else _best(t, "min", x, dim, keepdim)


def _best(t: Capture, name: str, x: Tensor, dim: int | None, keepdim: bool) -> Tensor | Chosen:
    """Two reductions, of the values and of their places."""
    if dim is None:
        return _extreme(t, f"a{name}", x)
    over = (normalized(dim, x.ndim),)
    with t.device.no_grad():
        values = reduce(t, f"a{name}", x, over, keepdim, None, WITH_PLACES)
        values.made.nodes = values.made.all_nodes = 2  # with what takes them of both
        indices = reduce(t, f"arg{name}", x, over, keepdim, INT64, WITH_PLACES)
        indices.made.nodes = 2
    return _chosen(t, x, values, indices, None if keepdim else over[0])


def _extreme(t: Capture, name: str, x: Tensor) -> Tensor:
    """That of all elements, whose gradient equal ones share."""
    over = tuple(range(x.ndim))
    out = reduce(t, name, x, over, False)

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        mask = compare(x, out)
        count = reduce(t, "sum", cast(mask, INT64), over, False, INT64)
        share = t.make("quotient", POINTWISE, (g, count), (), g.dtype, g.role)
        return [t.make("product", POINTWISE, (mask, share), x.shape, g.dtype, x.role.gradient)]

    return record(out, (x,), backward, x, out)


def argmax(t: Capture, x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """``aten.argmax``."""
    return reduce(t, "argmax", x, dimensions(x, dim), keepdim, INT64)


def argmin(t: Capture, x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """``aten.argmin``."""
    return reduce(t, "argmin", x, dimensions(x, dim), keepdim, INT64)


def multinomial(t: Capture, x: Tensor, num_samples: int, replacement: bool = False) -> Tensor:
    """``aten.multinomial``, a library call."""
    shape, role = (*x.shape[:-1], num_samples), x.role.made("samples")
    return t.make("multinomial", CALL, (x,), shape, INT64, role, replacement, len(t.graph.all))


def randperm(t: Capture, n: int, dtype: Dtype) -> Tensor:
    """``aten.randperm``, a library call; no two of them are one."""
    sizes = enumerate(sorting_bytes(t.device, n, dtype))
    held = [(f"sorting {place}", -(-size // FLOAT32.itemsize)) for place, size in sizes]
    number = "number", dtype.itemsize // FLOAT32.itemsize
    scratch = number, number, *held, *reversed(held)
    results = [((n,), None, dtype, MADE)]
    return t.several("randperm", CALL, (), results, len(t.graph.all), scratch=scratch)[0]


def some(t: Capture, x: Tensor, dim: Dimensions = None, keepdim: bool = False) -> Tensor:
    """``aten.any``."""
    return _truth(t, "any", x, dim, keepdim)


def every(t: Capture, x: Tensor, dim: Dimensions = None, keepdim: bool = False) -> Tensor:
    """``aten.all``."""
    return _truth(t, "all", x, dim, keepdim)


def _truth(t: Capture, name: str, x: Tensor, dim: Dimensions, keepdim: bool) -> Tensor:
    made = UINT8 if x.dtype is UINT8 else BOOL
    return reduce(t, name, x, dimensions(x, dim), keepdim, made)


def one_hot(t: Capture, x: Tensor, num_classes: int = -1) -> Tensor:
    """A comparison with the classes' numbers (Onehot.cpp, for tensors without values)."""
    if num_classes < 0:
        raise DataDependent("one_hot without num_classes")
    if Inductor.of(t.device.release).asserts_classes:
        _assert_all(t, compare(x, 0, how="at least"))
        _assert_all(t, compare(x, num_classes, how="less"))
    classes = create(x.device, (num_classes,), INT64, x.role.made("classes"))
    return cast(compare(unsqueeze(x, -1), classes), INT64, x.role.made("one-hot"))


def _assert_all(t: Capture, mask: Tensor) -> None:
    """``aten._assert_async``, which no pass leaves out."""
    holds = check(reduce(t, "any", check(mask), dimensions(mask, None), False))
    made = t.make("assert", CALL, (holds,), (), BOOL, holds.role)
    t.graph.asserts.append(made.made)


def cumsum(t: Capture, x: Tensor, dim: int, *, dtype: Dtype | None = None) -> Tensor:
    """``aten.cumsum``: a scan, whose gradient is a scan from the end."""
    before, over = x.dtype, normalized(dim, x.ndim)
    with t.device.no_grad():
        out = _scan(t, cast(x, dtype or summed_type(x)), over)

    def backward(g: Tensor) -> list[Tensor | None]:
        flow = cast(g, before)
        return [flip(t, _scan(t, flip(t, flow, over), over), over)]

    return record(out, (x,), backward)


def _scan(t: Capture, x: Tensor, over: int) -> Tensor:
    role = x.role.made("cumulative sum")
    return t.make("scan", REDUCTION, (x,), x.shape, x.dtype, role, (over,), True)


def flip(t: Capture, x: Tensor, *dims: int | Sequence[int]) -> Tensor:
    """``aten.flip``: elements from the end."""
    over = [normalized(dim, x.ndim) for dim in sizes_of(dims)]
    strides = like_strides(x.shape, x.strides)
    role = x.role.made("flipped")
    out = t.make("flip", POINTWISE, (x,), x.shape, x.dtype, role, *over, strides=strides, cost=0)
    return record(out, (x,), lambda g: [flip(t, g, *over)])


def product(
    t: Capture, x: Tensor, dim: int | None = None, keepdim: bool = False, *,
    dtype: Dtype | None = None,
) -> Tensor:  # fmt: skip
    """``aten.prod``, whose gradient asks for the places of zeros."""
    if x.requires_grad and t.device.grad_enabled:
        raise NotTraced("the gradient of prod")
    made = dtype or summed_type(x)
    return reduce(t, "product of elements", cast(x, made), dimensions(x, dim), keepdim, made)


FORMULAS: Formulas = {
    "all": every,
    "any": some,
    "argmax": argmax,
    "argmin": argmin,
    "cumsum": cumsum,
    "flip": flip,
    "max": largest,
    "min": smallest,
    "multinomial": multinomial,
    "randperm": randperm,
    "one_hot": one_hot,
    "prod": product,
    "sort": sort,
    "topk": topk,
}
