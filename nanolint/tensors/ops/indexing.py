"""Elements by index (aten/src/ATen/native/TensorAdvancedIndexing.cpp, python_variable_indexing)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from nanolint.tape.symbolic import bounds, largest
from nanolint.tensors import refusing
from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import BOOL, INT64, UINT8
from nanolint.tensors.layout import broadcast, normalized
from nanolint.tensors.ops.creation import filled
from nanolint.tensors.ops.parts import select, sliced
from nanolint.tensors.ops.pointwise import mul
from nanolint.tensors.ops.sums import radix_sort_bytes
from nanolint.tensors.ops.views import alias, expand, unsqueeze
from nanolint.tensors.tensor import Tensor, empty
from nanolint.tensors.tracing import traced, traced_after
from nanolint.tensors.unknown import DataDependent, NotModelled, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.dtypes import Number
    from nanolint.tensors.layout import Shape


def getitem(x: Tensor, index: Any) -> Tensor:
    """``x[index]``: views for numbers, slices and None; a copy for tensors of indices.

    Raises DataDependent for a mask: how many elements it chooses follows from its values.
    """
    found, indices = viewed(x, index)
    if any(each is not None for each in indices):
        return _indexed(found, indices)
    return alias(found) if found is x else found


def viewed(x: Tensor, index: Any) -> tuple[Tensor, list[Tensor | None]]:
    """The part of ``index`` that is a view, and what is left of it by dimension."""
    items = list(index) if isinstance(index, tuple) else [index]
    named = sum(_dimensions_of(each) for each in items)
    if named > x.ndim > 0:
        raise Refused(f"too many indices for tensor of dimension {x.ndim}", IndexError)
    found, dim = x, 0
    indices: list[Tensor | None] = []
    for item in items:
        if item is None:
            found = unsqueeze(found, dim)
        elif item is Ellipsis:
            dim += x.ndim - named
            continue
        elif isinstance(item, slice):
            found = _slice(found, dim, item)
        elif isinstance(item, int) and not isinstance(item, bool):
            found = select(found, dim, item)
            continue
        else:
            chosen = _index_tensor(found, item)
            indices += [None] * (dim - len(indices)) + [chosen]
        dim += 1
    return found, indices


def _dimensions_of(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    masks = isinstance(item, Tensor) and item.dtype in (BOOL, UINT8)
    return item.ndim if masks else 1


def _slice(x: Tensor, dim: int, item: slice) -> Tensor:
    start, stop, step = bounds(item, x.shape[dim])
    length = largest([0, -(-(stop - start) // step)])
    return x if step == 1 and length == x.shape[dim] else sliced(x, dim, length, step, start)


def _index_tensor(x: Tensor, item: Any) -> Tensor:
    if isinstance(item, (list, range)):
        return _numbers(x, len(item))
    if not isinstance(item, Tensor) or item.dtype in (BOOL, UINT8):
        raise DataDependent("indexing by a mask")
    return item


@traced
def _numbers(x: Tensor, count: int) -> Tensor:
    """A list of indices as a tensor."""
    return empty(x.device, (count,), INT64, x.role.made("indices"))


@traced
def _indexed(x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """``x.index``: the chosen dimensions in the place of the first, or in front."""
    shape = chosen_shape(x.shape, indices)
    out = empty(x.device, shape, x.dtype, x.role.made("indexed"))
    before, role = x.shape, x.role.gradient
    places = [place for place, each in enumerate(indices) if each is not None]

    def backward(g: Tensor, *chosen: Tensor) -> list[Tensor | None]:
        made = empty(g.device, before, g.dtype, role)
        every: list[Tensor | None] = [None] * (places[-1] + 1)
        for place, each in zip(places, chosen, strict=True):
            every[place] = each
        sort_scratch(every, before, g)
        return [made]

    return record(out, (x,), backward, *(each for each in indices if each is not None))


@traced
def taken(g: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """The elements of a gradient at ``indices``."""
    return empty(g.device, chosen_shape(g.shape, indices), g.dtype, g.role)


@traced
def put(x: Tensor, indices: Sequence[Tensor | None], values: Tensor) -> Tensor:
    """``x.index_put``: only in a graph that is traced. Raises NotModelled."""
    raise NotModelled("index_put that is not in place")


def sort_scratch(indices: Sequence[Tensor | None], shape: Shape, values: Tensor) -> None:
    """Bytes that adding by index takes: one linear index for each, sorted (cuda/Indexing.cu)."""
    tensors = [each for each in indices if each is not None]
    count = prod(broadcast(*(each.shape for each in tensors)))
    device, role = values.device, values.role.made("indices to sort")
    linear = None
    for each in tensors:
        wrapped = empty(device, each.shape, INT64, role)
        scaled = empty(device, each.shape, INT64, role)
        del wrapped
        linear = linear or scaled
        del scaled
    ids = [empty(device, (count,), INT64, role) for _ in range(3)]
    rows = prod(size for size, each in zip(shape, indices, strict=False) if each is not None)
    scratch = empty(device, (radix_sort_bytes(count, rows, device.tuned_for),), UINT8, role)
    del scratch, ids, linear


def chosen_shape(shape: Shape, indices: Sequence[Tensor | None]) -> Shape:
    """The shape of ``x[indices]``."""
    tensors = [each for each in indices if each is not None]
    chosen = broadcast(*(each.shape for each in tensors))
    places = [place for place, each in enumerate(indices) if each is not None]
    rest = [size for place, size in enumerate(shape) if place not in places]
    adjacent = places[-1] - places[0] == len(places) - 1
    front = places[0] if adjacent else 0
    return (*rest[:front], *chosen, *rest[front:])


@traced_after(refusing.gathered)
def gather(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """``x.gather(dim, index)``: the gradient is scattered into zeros; x is kept until then, though
    nobody reads it (tools/autograd/derivatives.yaml, ``gather_backward``)."""
    out = empty(x.device, index.shape, x.dtype, x.role.made("gathered"))
    shape, role = x.shape, x.role.gradient

    def backward(g: Tensor, _x: Tensor, _index: Tensor) -> list[Tensor | None]:
        return [empty(g.device, shape, g.dtype, role)]

    return record(out, (x,), backward, x, index)


def take_along_dim(x: Tensor, indices: Tensor, dim: int) -> Tensor:
    """``torch.take_along_dim``: ``gather``, after broadcasting."""
    along = normalized(dim, x.ndim)
    sizes = broadcast(
        (*x.shape[:along], 1, *x.shape[along + 1 :]),
        (*indices.shape[:along], 1, *indices.shape[along + 1 :]),
    )
    of_x = expand(x, (*sizes[:along], x.shape[along], *sizes[along + 1 :]))
    of_index = expand(indices, (*sizes[:along], indices.shape[along], *sizes[along + 1 :]))
    return gather(of_x, dim, of_index)


@traced
def index_select(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """``x.index_select(dim, index)``: the gradient is added into zeros."""
    along = normalized(dim, x.ndim)
    shape = (*x.shape[:along], index.numel, *x.shape[along + 1 :])
    out = empty(x.device, shape, x.dtype, x.role.made("selected"))
    before, role = x.shape, x.role.gradient

    def backward(g: Tensor, _index: Tensor) -> list[Tensor | None]:
        return [empty(g.device, before, g.dtype, role)]

    return record(out, (x,), backward, index)


@traced
def scatter(x: Tensor, dim: int, index: Tensor, src: Tensor | Number) -> Tensor:
    """``x.scatter(dim, index, src)``: a copy, written into."""
    out = empty(x.device, x.shape, x.dtype, x.role.made("scattered"))
    inputs, backward = scattering(x, dim, src, adds=False)
    return record(out, inputs, backward, index)


@traced
def scatter_add(x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """``x.scatter_add(dim, index, src)``: a copy, added to."""
    out = empty(x.device, x.shape, x.dtype, x.role.made("scattered"))
    inputs, backward = scattering(x, dim, src, adds=True)
    return record(out, inputs, backward, index)


def scattering(x: Tensor, dim: int, src: Tensor | Number, *, adds: bool) -> tuple[Any, Any]:
    """Inputs and backward formula of ``scatter``, in place and not."""
    source = src if isinstance(src, Tensor) else None
    needs_x, needs_src = x.requires_grad, source is not None and source.requires_grad

    def backward(g: Tensor, index: Tensor) -> list[Tensor | None]:
        of_x = of_src = None
        if needs_x:
            of_x = g if adds else scatter(g, dim, index, 0)
        if needs_src:
            of_src = gather(g, dim, index)
        return [of_x, of_src]

    return (x, source), backward


@traced
def index_add(x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """``x.index_add(dim, index, source)``: a copy, added to."""
    out = empty(x.device, x.shape, x.dtype, x.role.made("added to"))
    inputs, backward = index_adding(x, dim, source, alpha)
    return record(out, inputs, backward, index, source)


def index_adding(x: Tensor, dim: int, source: Tensor, alpha: Number) -> tuple[Any, Any]:
    """Inputs and backward formula of ``index_add``, in place and not."""
    needs_x, needs_source = x.requires_grad, source.requires_grad

    def backward(g: Tensor, index: Tensor, _source: Tensor) -> list[Tensor | None]:
        of_source = None
        if needs_source:
            chosen = index_select(g, dim, index)
            of_source = chosen if alpha == 1 else mul(chosen, alpha)
            del chosen
        return [g if needs_x else None, of_source]

    return (x, source), backward


@traced
def index_copy(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """``x.index_copy(dim, index, source)``: a copy, written into."""
    out = empty(x.device, x.shape, x.dtype, x.role.made("copied into"))
    inputs, backward = index_copying(x, dim, source)
    return record(out, inputs, backward, index, source)


def index_copying(x: Tensor, dim: int, source: Tensor) -> tuple[Any, Any]:
    """Inputs and backward formula of ``index_copy``, in place and not: of the source its number of
    dimensions is asked for."""
    needs_x, needs_source = x.requires_grad, source.requires_grad

    def backward(g: Tensor, index: Tensor, _source: Tensor) -> list[Tensor | None]:
        of_source = index_select(g, dim, index) if needs_source else None
        return [filled(g) if needs_x else None, of_source]

    return (x, source), backward


def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    """``x.masked_select``. Raises DataDependent."""
    raise DataDependent("masked_select")


def nonzero(x: Tensor, *, as_tuple: bool = False) -> Tensor:
    """``torch.nonzero``. Raises DataDependent."""
    raise DataDependent("nonzero")


def unique(x: Tensor, *_given: object, **_options: object) -> Tensor:
    """``torch.unique``. Raises DataDependent."""
    raise DataDependent("unique")
