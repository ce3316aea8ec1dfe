"""Elements by index: gathered inside kernels, put back by sums or copies in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.inductor.derive.counting import is_half
from nanolint.inductor.derive.formulas.elements import masked_fill
from nanolint.inductor.derive.operations import FALLS_BACK
from nanolint.tensors.autograd import record
from nanolint.tensors.device import NotVerified
from nanolint.tensors.dtypes import BFLOAT16, BOOL, FLOAT32, FLOATING, INT32, INT64
from nanolint.tensors.layout import normalized
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.comparison import compare, where
from nanolint.tensors.ops.creation import MADE, create, full_of
from nanolint.tensors.ops.indexing import chosen_shape, index_adding, index_copying, scattering
from nanolint.tensors.ops.pointwise import add, mul, remainder, sub
from nanolint.tensors.ops.sums import radix_sort_bytes
from nanolint.tensors.ops.views import cast, flatten, permute, reshape, unsqueeze, view
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.inductor.derive.capture import Capture, Formulas
    from nanolint.tensors.dtypes import Dtype, Number
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.role import Role


# torch/_decomp/decompositions.py, embedding_dense_backward: rows that do not count are left out in
# the sum. Before, they were chosen away ahead of it. In 2.13, not in 2.12.1.
MASKED_IN_SUM_SINCE = (2, 13)
NO_PADDING = -1


def into_zeros(
    t: Capture,
    indices: Sequence[Tensor],
    values: Tensor,
    shape: Shape,
    role: Role,
    *how: Any,
    scratch: tuple[tuple[str, int], ...] = (),
) -> Tensor:
    """``index_put`` and the like into zeros, which may be those of another operation; ``scratch``
    is what ATen takes for it."""
    zeros = full_of(t.device, shape, values.dtype, role)
    found = t.make(ops.INDEX_PUT, (zeros, *indices, values), shape, values.dtype, role, *how)
    found.made.scratch = scratch
    return found


def sorting(t: Capture, indices: Sequence[Tensor], rows: int) -> tuple[tuple[str, int], ...]:
    """Bytes that adding by an index takes that ATen sorts (cuda/Indexing.cu), as ``sort_scratch``
    of ops/indexing.py. Raises NotVerified for several."""
    if len(indices) != 1:
        raise NotVerified("the gradient of several indices in half precision")
    (index,) = indices
    count, unit = index.numel, FLOAT32.itemsize
    number = count * INT64.itemsize // unit
    wrapped, scaled = ("indices within bounds", number), ("linear indices", number)
    ids = [(f"indices to sort {place}", number) for place in range(3)]
    held = "sorting", -(-radix_sort_bytes(count, rows, t.device.tuned_for) // unit)
    return wrapped, scaled, wrapped, *ids, held, held, *ids, scaled


def embedding(
    t: Capture, index: Tensor, weight: Tensor, *_options: object, role: Role | None = None
) -> Tensor:
    """``aten.embedding``; backward ``embedding_dense_backward``, an atomic sum into zeros,
    in float32 (``pw_cast_for_opmath``)."""
    shape = (*index.shape, weight.shape[1])
    label = role or weight.role.made("embeddings")
    out = t.make(ops.EMBEDDING, (weight, index), shape, weight.dtype, label)
    rows, gradient = weight.shape, weight.role.gradient

    def backward(g: Tensor, index: Tensor) -> list[Tensor | None]:
        if t.device.release < MASKED_IN_SUM_SINCE:
            g = masked_fill(t, g, unsqueeze(compare(index, NO_PADDING), -1))
        wide = cast(g, FLOAT32) if is_half(g.dtype) else g
        return [cast(into_zeros(t, (index,), wide, rows, gradient), g.dtype)]

    return record(out, (weight,), backward, index)


def indexed(t: Capture, x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """``aten.index``; backward ``index_put`` that adds into zeros."""
    shape = chosen_shape(x.shape, indices)
    chosen = [each for each in indices if each is not None]
    places = tuple(place for place, each in enumerate(indices) if each is not None)
    role = x.role.made("indexed")
    out = t.make(ops.INDEX, (x, *chosen), shape, x.dtype, role, places)
    before, gradient = x.shape, x.role.gradient

    def backward(g: Tensor, *chosen: Tensor) -> list[Tensor | None]:
        falls = falling_back(t, g.dtype)
        scratch = sorting(t, chosen, before[places[0]]) if falls else ()
        return [into_zeros(t, chosen, g, before, gradient, places, *falls, scratch=scratch)]

    return record(out, (x,), backward, *chosen)


def gather(t: Capture, x: Tensor, dim: int, index: Tensor) -> Tensor:
    """``aten.gather``; backward ``scatter_add`` into zeros."""
    role = x.role.made("gathered")
    along = normalized(dim, x.ndim)
    out = t.make(ops.GATHER, (x, index), index.shape, x.dtype, role, along)
    shape, gradient = x.shape, x.role.gradient

    def backward(g: Tensor, index: Tensor) -> list[Tensor | None]:
        return [into_zeros(t, (index,), g, shape, gradient, *falling_back(t, g.dtype))]

    return record(out, (x,), backward, index)


def index_select(t: Capture, x: Tensor, dim: int, index: Tensor) -> Tensor:
    """``aten.index_select``; backward ``index_add`` into zeros."""
    along = normalized(dim, x.ndim)
    shape = (*x.shape[:along], index.numel, *x.shape[along + 1 :])
    role = x.role.made("selected")
    out = t.make(ops.INDEX, (x, index), shape, x.dtype, role, (along,))
    before, gradient = x.shape, x.role.gradient

    def backward(g: Tensor, index: Tensor) -> list[Tensor | None]:
        return [into_zeros(t, (index,), g, before, gradient, (along,))]

    return record(out, (x,), backward, index)


ATOMIC_SINCE = (9, 0)  # compute capability
# From here on bfloat16 is added by kernels of Triton's where the card can; before, nowhere.
ATOMIC_BFLOAT16_SINCE = (2, 12)


def falling_back(t: Capture, dtype: Dtype) -> tuple[str, ...]:
    """Whether ATen scatters what is of a type: ``needs_fallback_due_to_atomic_add_limitations``
    (torch/_inductor/utils.py)."""
    falls = dtype in {INT64, BOOL}
    if dtype is BFLOAT16:
        falls = t.device.capability < ATOMIC_SINCE or t.device.release < ATOMIC_BFLOAT16_SINCE
    return (FALLS_BACK,) if falls else ()


def _put(t: Capture, x: Tensor, index: Tensor, src: Tensor | Number, *how: Any) -> Tensor:
    """A copy of x, which a kernel then writes into, or ATen."""
    values = [src] if isinstance(src, Tensor) else []
    role = x.role.made("scattered")
    if values:
        how = (*how, *falling_back(t, values[0].dtype))
    return t.make(ops.INDEX_PUT, (x, index, *values), x.shape, x.dtype, role, *how)


def scatter(t: Capture, x: Tensor, dim: int, index: Tensor, src: Tensor | Number) -> Tensor:
    """``aten.scatter``."""
    out = _put(t, x, index, src, normalized(dim, x.ndim))
    inputs, backward = scattering(x, dim, src, adds=False)
    return record(out, inputs, backward, index)


def scatter_add(t: Capture, x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """``aten.scatter_add``."""
    out = _put(t, x, index, src, normalized(dim, x.ndim), "adds")
    inputs, backward = scattering(x, dim, src, adds=True)
    return record(out, inputs, backward, index)


def index_add(
    t: Capture, x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1
) -> Tensor:
    """``aten.index_add``: an ``index_put`` that adds; ATen's own in bfloat16."""
    if x.dtype is BFLOAT16:
        role = x.role.made("sum by index")
        out: Tensor = t.make(ops.INDEX_ADD, (x, index, source), x.shape, x.dtype, role)
    else:
        out = _put(t, x, index, source, normalized(dim, x.ndim), "rows")
    inputs, backward = index_adding(x, dim, source, alpha)
    return record(out, inputs, backward, index, source)


def index_copy(t: Capture, x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """``aten.index_copy``: an ``index_put`` that adds nothing."""
    role = x.role.made("copied into")
    how = normalized(dim, x.ndim), "rows"
    out = t.make(ops.INDEX_PUT, (x, index, source), x.shape, x.dtype, role, *how)
    inputs, backward = index_copying(x, dim, source)
    return record(out, inputs, backward, index, source)


def taken(t: Capture, g: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """``aten.index`` of a gradient."""
    return indexed(t, g.detach(), indices)


def put(t: Capture, x: Tensor, indices: Sequence[Tensor | None], values: Tensor) -> Tensor:
    """``aten.index_put``."""
    chosen = [each for each in indices if each is not None]
    places = tuple(place for place, each in enumerate(indices) if each is not None)
    of, role = (x, *chosen, values), x.role.made("put")
    return t.make(ops.INDEX_PUT, of, x.shape, x.dtype, role, places)


def arange(t: Capture, count: int, start: Number, step: Number, dtype: Dtype) -> Tensor:
    """``aten.arange``: whole numbers, multiplied and moved if others are asked for
    (torch/_refs)."""
    whole = isinstance(start, int) and isinstance(step, int)
    if dtype.kind < FLOATING and whole:
        how = () if (start, step) == (0, 1) else (start, step)
        made: Tensor = t.make(ops.ARANGE, (), (count,), dtype, MADE, None, *how)
        return made
    places = create(t.device, (count,), INT64, MADE)
    found = places if whole else cast(places, FLOAT32)
    return cast(add(mul(found, step), start), dtype)


def linspace(t: Capture, start: Number, end: Number, steps: int, dtype: Dtype) -> Tensor:
    """``aten.linspace``: each half counted from its own end (torch/_refs)."""
    if steps <= 1 or dtype.kind < FLOATING:
        return create(t.device, (steps,), dtype, MADE, ops.LINSPACE)
    places = arange(t, steps, 0, 1, INT64)
    step = (end - start) / (steps - 1)
    is_early = compare(places, steps / 2, ops.LT)
    early = add(mul(cast(places, FLOAT32), step), start)
    late = sub(end, mul(cast(sub(steps - 1, places), FLOAT32), step))
    return cast(where(is_early, early, late), dtype)


def unfolded(t: Capture, g: Tensor, shape: Shape, dim: int, size: int, _step: int) -> Tensor:
    """``unfold_backward`` (torch/_decomp/decompositions.py): windows are added into zeros by the
    numbers of their elements."""
    if falling_back(t, g.dtype):
        raise NotVerified("the gradient of windows in bfloat16")
    count = g.shape[dim] * size
    places = arange(t, count, 0, 1, INT32)
    order = [each for each in range(g.ndim - 1) if each <= dim]
    moved = permute(g, *order, g.ndim - 1, *range(dim + 1, g.ndim - 1))
    source = reshape(moved, (*shape[:dim], count, *shape[dim + 1 :]))
    return into_zeros(t, (places,), source, shape, g.role.reshaped, (dim,))


def rolled(
    t: Capture, x: Tensor, shifts: int | Sequence[int], dims: int | Sequence[int] = ()
) -> Tensor:
    """``aten.roll``: a selection by shifted places, one dimension after the other (torch/_refs)."""
    along = (dims,) if isinstance(dims, int) else tuple(dims)
    moved = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    with t.device.no_grad():
        out = x if along else flatten(x)
        for dim, by in zip(along or (0,), moved, strict=True):
            size = out.shape[dim]
            places = arange(t, size, 0, 1, INT64)
            shifted = remainder(add(places, (size - by) % size), size)
            out = index_select(t, out, dim, shifted)
        out = view(out, x.shape)
    back = [-each for each in moved]
    return record(out, (x,), lambda g: [rolled(t, g, back, dims)])


def numbers(t: Capture, x: Tensor, count: int) -> Tensor:
    """A list of indices: a constant, another one wherever it is written."""
    return t.create(ops.LIFTED, (count,), INT64, x.role.made("indices"))


FORMULAS: Formulas = {
    "arange": arange,
    "linspace": linspace,
    "_indexed": indexed,
    "_numbers": numbers,
    "embedding": embedding,
    "gather": gather,
    "put": put,
    "taken": taken,
    "index_add": index_add,
    "index_copy": index_copy,
    "index_select": index_select,
    "roll": rolled,
    "scatter": scatter,
    "scatter_add": scatter_add,
}
