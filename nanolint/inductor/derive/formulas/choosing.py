"""The largest, the order, and their places: library calls, scans and reductions by index."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from nanolint.inductor.derive.formulas.indices import falling_back, into_zeros
from nanolint.inductor.derive.formulas.reductions import dimensions, reduce
from nanolint.inductor.derive.operations import PLACES, WITH_PLACES
from nanolint.inductor.inductor import Inductor
from nanolint.tensors.autograd import record, record_all
from nanolint.tensors.device import NotTraced
from nanolint.tensors.dtypes import BOOL, FLOAT32, INT64, UINT8
from nanolint.tensors.layout import like_strides, normalized
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.comparison import check, compare
from nanolint.tensors.ops.creation import MADE, create, sorting_bytes
from nanolint.tensors.ops.pointwise import extremum
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
    from nanolint.tensors.ops.registry import Op


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
    results = [(shape, None, x.dtype, made("largest")), (shape, None, INT64, made("indices"))]
    values, indices = t.several(ops.TOPK, (x,), results, k, along, largest)
    return _chosen(t, x, values, indices)


def sort(
    t: Capture, x: Tensor, dim: int = -1, descending: bool = False, stable: bool = False
) -> Chosen:
    """``aten.sort``: one kernel, or a library call, with two results."""
    strides, made = like_strides(x.shape, x.strides), x.role.made
    lying = x.shape, strides
    results = [(*lying, x.dtype, made("sorted")), (*lying, INT64, made("indices"))]
    values, indices = t.several(ops.SORT, (x,), results, normalized(dim, x.ndim), descending)
    return _chosen(t, x, values, indices)


def _best(
    t: Capture, x: Tensor, dim: int | Tensor | None = None, keepdim: bool = False, *, op: Op
) -> Tensor | Chosen:
    """``aten.max`` and ``aten.min``: two reductions, of the values and of their places."""
    if isinstance(dim, Tensor):
        return extremum(x, dim, ops.MAXIMUM if op is ops.AMAX else ops.MINIMUM)
    if dim is None:
        return _extreme(t, op, x)
    over = (normalized(dim, x.ndim),)
    with t.device.no_grad():
        values = reduce(t, op, x, over, keepdim, None, WITH_PLACES)
        values.made.nodes = values.made.all_nodes = 2  # with what takes them of both
        indices = reduce(t, PLACES[op], x, over, keepdim, INT64, WITH_PLACES)
        indices.made.nodes = 2
    return _chosen(t, x, values, indices, None if keepdim else over[0])


def _extreme(t: Capture, op: Op, x: Tensor) -> Tensor:
    """That of all elements, whose gradient equal ones share."""
    over = tuple(range(x.ndim))
    out = reduce(t, op, x, over, False)

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        mask = compare(x, out)
        count = reduce(t, ops.SUM, cast(mask, INT64), over, False, INT64)
        share = t.make(ops.DIV, (g, count), (), g.dtype, g.role)
        return [t.make(ops.MUL, (mask, share), x.shape, g.dtype, x.role.gradient)]

    return record(out, (x,), backward, x, out)


def _place(
    t: Capture, x: Tensor, dim: int | None = None, keepdim: bool = False, *, op: Op
) -> Tensor:
    """``aten.argmax`` and ``aten.argmin``."""
    return reduce(t, op, x, dimensions(x, dim), keepdim, INT64)


def multinomial(t: Capture, x: Tensor, num_samples: int, replacement: bool = False) -> Tensor:
    """``aten.multinomial``, a library call."""
    shape, role = (*x.shape[:-1], num_samples), x.role.made("samples")
    return t.make(ops.MULTINOMIAL, (x,), shape, INT64, role, replacement)


def randperm(t: Capture, n: int, dtype: Dtype) -> Tensor:
    """``aten.randperm``, a library call; no two of them are one."""
    sizes = enumerate(sorting_bytes(t.device, n, dtype))
    held = [(f"sorting {place}", -(-size // FLOAT32.itemsize)) for place, size in sizes]
    number = "number", dtype.itemsize // FLOAT32.itemsize
    scratch = number, number, *held, *reversed(held)
    results = [((n,), None, dtype, MADE)]
    return t.several(ops.RANDPERM, (), results, scratch=scratch)[0]


def _truth(
    t: Capture, x: Tensor, dim: Dimensions = None, keepdim: bool = False, *, op: Op
) -> Tensor:
    """``aten.any`` and ``aten.all``."""
    made = UINT8 if x.dtype is UINT8 else BOOL
    return reduce(t, op, x, dimensions(x, dim), keepdim, made)


def one_hot(t: Capture, x: Tensor, num_classes: int = -1) -> Tensor:
    """A comparison with the classes' numbers (Onehot.cpp, for tensors without values)."""
    if num_classes < 0:
        raise DataDependent("one_hot without num_classes")
    if Inductor.of(t.device.release).asserts_classes:
        _assert_all(t, compare(x, 0, ops.GE))
        _assert_all(t, compare(x, num_classes, ops.LT))
    classes = create(x.device, (num_classes,), INT64, x.role.made("classes"))
    return cast(compare(unsqueeze(x, -1), classes), INT64, x.role.made("one-hot"))


def _assert_all(t: Capture, mask: Tensor) -> None:
    """``aten._assert_async``, which no pass leaves out."""
    op = ops.LOGICAL_NOT
    holds = check(reduce(t, ops.ANY, check(mask, op), dimensions(mask, None), False), op)
    made = t.make(ops.ASSERT, (holds,), (), BOOL, holds.role)
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
    return t.make(ops.CUMSUM, (x,), x.shape, x.dtype, role, (over,), True)


def flip(t: Capture, x: Tensor, *dims: int | Sequence[int]) -> Tensor:
    """``aten.flip``: elements from the end."""
    over = [normalized(dim, x.ndim) for dim in sizes_of(dims)]
    strides = like_strides(x.shape, x.strides)
    role = x.role.made("flipped")
    out = t.make(ops.FLIP, (x,), x.shape, x.dtype, role, *over, strides=strides)
    return record(out, (x,), lambda g: [flip(t, g, *over)])


def product(
    t: Capture, x: Tensor, dim: int | None = None, keepdim: bool = False, *,
    dtype: Dtype | None = None,
) -> Tensor:  # fmt: skip
    """``aten.prod``, whose gradient asks for the places of zeros."""
    if x.requires_grad and t.device.grad_enabled:
        raise NotTraced("the gradient of prod")
    made = dtype or summed_type(x)
    return reduce(t, ops.PROD, cast(x, made), dimensions(x, dim), keepdim, made)


FORMULAS: Formulas = {
    "all": partial(_truth, op=ops.ALL),
    "any": partial(_truth, op=ops.ANY),
    "argmax": partial(_place, op=ops.ARGMAX),
    "argmin": partial(_place, op=ops.ARGMIN),
    "cumsum": cumsum,
    "flip": flip,
    "max": partial(_best, op=ops.AMAX),
    "min": partial(_best, op=ops.AMIN),
    "multinomial": multinomial,
    "randperm": randperm,
    "one_hot": one_hot,
    "prod": product,
    "sort": sort,
    "topk": topk,
}
