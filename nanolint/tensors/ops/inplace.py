"""Operations that write into their first argument, or into chosen elements of it.

torch/csrc/autograd/VariableTypeManual.cpp, aten/src/ATen/native/TensorAdvancedIndexing.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.tensors import refusing
from nanolint.tensors.autograd import Leaf, record
from nanolint.tensors.dtypes import BOOL, UINT8, promote
from nanolint.tensors.layout import broadcast, like_strides
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.comparison import clamp, compare, masked_fill, of_clamped, sides_of, where
from nanolint.tensors.ops.conversion import to
from nanolint.tensors.ops.creation import filled, full_of
from nanolint.tensors.ops.indexing import (
    chosen_shape,
    index_add,
    index_adding,
    index_copy,
    index_copying,
    put,
    scatter,
    scatter_add,
    scattering,
    taken,
    viewed,
)
from nanolint.tensors.ops.linear import product_and_bias
from nanolint.tensors.ops.pointwise import div, elementwise, lerp, mul, neg, result_type
from nanolint.tensors.ops.views import cast, expand, preserved
from nanolint.tensors.tensor import Tensor, autograd_follows, empty
from nanolint.tensors.tracing import tracer_at
from nanolint.tensors.unknown import DataDependent, NotModelled, Refused
from nanolint.tensors.work import of_product

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nanolint.tensors.dtypes import Number
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.ops.pointwise import Operand
    from nanolint.tensors.role import Role
    from nanolint.tensors.tracing import Tracer

    Backward = Callable[..., Iterable[Tensor | None]]


def written(
    x: Tensor,
    inputs: Sequence[Tensor | None],
    backward: Backward,
    *saved: Tensor | None,
    value: Callable[[], Tensor] | None = None,
) -> Tensor:
    """``x``, after an operation on ``inputs`` wrote into it; the first of them is ``x``.

    ``value`` makes what it holds then, for a graph that is traced; without it that is an operation
    on the elements of ``inputs``.
    """
    tracer = tracer_at(x.device)
    if tracer is not None:
        return _written_traced(tracer, x, inputs, backward, saved, value)
    base = x.base
    if base is None or not x.device.grad_enabled:
        return record(x, inputs, backward, *saved)
    if all(each is None or each.node is None for each in (*inputs, base)):
        return x
    shape, strides, role = base.shape, base.strides, base.role.gradient
    part = x.shape, like_strides(x.shape, x.strides)
    needs_base = base.requires_grad

    def into_part(g: Tensor, *saved: Tensor | None) -> list[Tensor | None]:
        whole = empty(g.device, shape, g.dtype, role, like_strides(shape, strides))
        of_part = empty(g.device, part[0], g.dtype, role, part[1])
        of_x, *rest = backward(of_part, *saved)
        del of_part, of_x
        return [whole if needs_base else None, *rest]

    record(base, (base, *inputs[1:]), into_part, *saved)

    def from_base(g: Tensor) -> list[Tensor | None]:
        return [empty(g.device, shape, g.dtype, role)]

    return record(x, (base,), from_base)


def _written_traced(
    tracer: Tracer,
    x: Tensor,
    inputs: Sequence[Tensor | None],
    backward: Backward,
    saved: tuple[Tensor | None, ...],
    value: Callable[[], Tensor] | None,
) -> Tensor:
    with x.device.no_grad():
        made = [each for each in inputs if each is not None] if value is None else [value()]
    tracer.write(x, made)
    root = tracer.root(x)
    if root is None or not x.device.grad_enabled:
        return record(x, inputs, backward, *saved)
    if all(each is None or each.node is None for each in (*inputs, root)):
        return x
    needs_root = root.requires_grad
    saved = tuple(tracer.seen_anew(x) if each is x else each for each in saved)

    def into_part(g: Tensor, *saved: Tensor) -> list[Tensor | None]:
        of_x, *rest = backward(tracer.seen_as(x, g), *saved)
        return [tracer.put_back(x, g, of_x) if needs_root else None, *rest]

    record(root, (root, *inputs[1:]), into_part, *saved)
    shape, dtype, role = root.shape, root.dtype, root.role.gradient

    def from_root(g: Tensor) -> list[Tensor | None]:
        return [tracer.put_back(x, full_of(g.device, shape, dtype, role), g)]

    return record(x, (root,), from_root)


def copy_(x: Tensor, src: Operand, non_blocking: bool = False) -> Tensor:
    """``x.copy_(src)``."""
    if not isinstance(src, Tensor):
        return fill_(x, src)
    _check_shapes(x.shape, src.shape)
    return _copied(x, src)


def _copied(x: Tensor, src: Tensor) -> Tensor:
    needs_x, device, dtype = x.requires_grad, src.device, src.dtype
    if tracer_at(x.device) is not None and not (needs_x or src.requires_grad):
        return replaced(x, expand(cast(src, x.dtype), x.shape))

    def backward(g: Tensor) -> list[Tensor | None]:
        zeros = filled(g) if needs_x else None
        return [zeros, to(g, device, dtype)]

    def value() -> Tensor:
        return expand(cast(src, x.dtype), x.shape)

    return written(x, (x, src), backward, value=value)


def fill_(x: Tensor, value: Operand) -> Tensor:
    """``x.fill_(value)`` and ``zero_``."""
    return written(
        x,
        (x,),
        lambda g: [filled(g)],
        value=lambda: full_of(x.device, x.shape, x.dtype, x.role, value),
    )


def zero_(x: Tensor) -> Tensor:
    """``x.zero_()``."""
    return fill_(x, 0)


def add_(x: Tensor, other: Operand, *, alpha: Number = 1) -> Tensor:
    """``x.add_(other)``."""
    _check(x, other)

    def backward(g: Tensor) -> list[Tensor | None]:
        return [g, g if alpha == 1 else mul(g, alpha)]

    return written(x, (x, _tensor(other)), backward)


def sub_(x: Tensor, other: Operand, *, alpha: Number = 1) -> Tensor:
    """``x.sub_(other)``."""
    _check(x, other)
    needs = isinstance(other, Tensor) and other.requires_grad

    def backward(g: Tensor) -> list[Tensor | None]:
        return [g, neg(g) if needs else None]

    return written(x, (x, _tensor(other)), backward)


def mul_(x: Tensor, other: Operand) -> Tensor:
    """``x.mul_(other)``: if the other factor learns, ``x`` is copied before."""
    _check(x, other)
    learns = isinstance(other, Tensor) and other.requires_grad and x.device.grad_enabled
    before = preserved(x.detach()) if learns else None
    needs_x = x.requires_grad
    scalar = None if isinstance(other, Tensor) else other

    def backward(g: Tensor, x: Tensor | None, y: Tensor | None) -> list[Tensor | None]:
        of_y = None if x is None else mul(g, x)
        of_x = mul(g, scalar if y is None else y) if needs_x else None  # type: ignore[arg-type]
        return [of_x, of_y]

    return written(x, (x, _tensor(other)), backward, before, _tensor(other) if needs_x else None)


def div_(x: Tensor, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
    """``x.div_(other)``: if the divisor learns, ``x`` is copied before."""
    _check(x, other if rounding_mode is not None else 1.0)
    _check(x, other)
    learns = isinstance(other, Tensor) and other.requires_grad and x.device.grad_enabled
    before = preserved(x.detach()) if learns else None
    needs_x = x.requires_grad
    scalar = None if isinstance(other, Tensor) else other

    def backward(g: Tensor, x: Tensor | None, y: Tensor | None) -> list[Tensor | None]:
        of_y = None if x is None or y is None else _of_divisor(g, x, y)
        of_x = div(g, scalar if y is None else y) if needs_x else None  # type: ignore[arg-type]
        return [of_x, of_y]

    return written(x, (x, _tensor(other)), backward, before, _tensor(other))


def _check(x: Tensor, other: Operand) -> None:
    """Raises Refused if ``x`` cannot hold what an operation with ``other`` makes of it."""
    if x.device.grad_enabled and isinstance(x.node, Leaf):
        raise Refused("a leaf Variable that requires grad is being used in an in-place operation.")
    if isinstance(other, Tensor):
        _check_shapes(x.shape, other.shape)
    refusing.written_over(x.dtype, result_type(x, other))


def _check_shapes(shape: Shape, other: Shape) -> None:
    found = broadcast(shape, other)
    if found != shape:
        raise Refused(
            f"output with shape {refusing.sizes(shape)} doesn't match the broadcast shape "
            f"{refusing.sizes(found)}"
        )


def _of_divisor(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """``-grad * ((self / other) / other)``."""
    negative = neg(g)
    once = div(x, y)
    twice = div(once, y)
    return mul(negative, twice)


def clamp_(x: Tensor, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """``x.clamp_``: copies ``x`` before if it learns."""
    if not (x.requires_grad and x.device.grad_enabled):
        quietly_only(x, min, max)
        return x if tracer_at(x.device) is None else replaced(x, clamp(x, min, max))
    sides = sides_of(min, max)
    if any(isinstance(each, Tensor) for each, _ in sides):
        raise NotModelled("clamp_ by tensors")
    before = preserved(x.detach())

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        return [of_clamped(g, x, sides)]

    return written(x, (x,), backward, before, value=lambda: clamp(before, min, max))


def clamp_min_(x: Tensor, min: Operand) -> Tensor:
    """``x.clamp_min_``."""
    return clamp_(x, min)


def clamp_max_(x: Tensor, max: Operand) -> Tensor:
    """``x.clamp_max_``."""
    return clamp_(x, max=max)


def relu_(x: Tensor) -> Tensor:
    """``x.relu_()``, which saves its result."""
    return written(x, (x,), relu_backward(x.role.gradient), x)


def relu_backward(role: Role) -> Callable[[Tensor, Tensor], list[Tensor | None]]:
    """``threshold_backward`` of what was kept: a kernel, or a comparison and a choice if it is
    traced (torch/_decomp/decompositions.py), of which the comparison may be what is kept."""

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        if tracer_at(g.device) is not None:
            return [where(compare(out, 0, ops.LE), 0.0, g)]
        dtype = promote(g.dtype, out.dtype)
        return [elementwise(dtype, ops.THRESHOLD_BACKWARD, g, out, role=role)]

    return backward


def addmm_(x: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """``x.addmm_(mat1, mat2)`` if nothing learns."""
    quietly_only(x, mat1, mat2)
    if tracer_at(x.device) is not None:
        return replaced(x, product_and_bias(x.detach(), mat1, mat2, None))
    x.device.multiply()
    x.device.compute(mat1.dtype, of_product(x.shape, mat1.shape[-1]))
    return x


def masked_fill_(x: Tensor, mask: Tensor, value: Operand) -> Tensor:
    """``x.masked_fill_(mask, value)``."""
    refusing.expanded(mask.shape, x.shape)

    def backward(g: Tensor, mask: Tensor) -> list[Tensor | None]:
        return [masked_fill(g, mask, 0)]

    return written(x, (x,), backward, mask, value=lambda: masked_fill(x.detach(), mask, value))


def replaced(x: Tensor, made: Tensor) -> Tensor:
    """``x``, which holds what ``made`` is from now on, in a graph that is traced."""
    tracer = tracer_at(x.device)
    if tracer is not None:
        tracer.write(x, [made])
    return x


def lerp_(x: Tensor, end: Tensor, weight: Operand) -> Tensor:
    """``x.lerp_(end, weight)``, which no backward pass goes through."""
    quietly_only(x, end, weight)
    return x if tracer_at(x.device) is None else replaced(x, lerp(x, end, weight))


def quietly(x: Tensor, *arguments: Any, **_options: Any) -> Tensor:
    """An operation in place that no backward pass goes through: ``x.clamp_()``, ``normal_``.

    Raises NotModelled if one does.
    """
    tensors = quietly_only(x, *arguments)
    tracer = tracer_at(x.device)
    if tracer is not None:
        tracer.write(x, tensors)
    return x


def quietly_as(operation: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same as an operation that makes another tensor, which is what a graph holds."""

    def quietly_made(x: Tensor, *arguments: Any, **options: Any) -> Tensor:
        quietly_only(x, *arguments)
        if tracer_at(x.device) is None:
            return x
        return replaced(x, operation(x, *arguments, **options))

    return quietly_made


def quietly_only(*operands: Any) -> list[Tensor]:
    """The tensors among them. Raises NotModelled if a backward pass goes through one."""
    tensors = [each for each in operands if isinstance(each, Tensor)]
    if autograd_follows(tensors[0].device, tensors):
        raise NotModelled("an operation in place on a trainable tensor")
    return tensors


def _tensor(x: Operand) -> Tensor | None:
    return x if isinstance(x, Tensor) else None


def scatter_(
    x: Tensor, dim: int, index: Tensor, src: Operand | None = None, *, value: Number = 0
) -> Tensor:
    """``x.scatter_(dim, index, src)``."""
    given = value if src is None else src
    inputs, backward = scattering(x, dim, given, adds=False)
    return written(x, inputs, backward, index, value=lambda: scatter(x.detach(), dim, index, given))


def scatter_add_(x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """``x.scatter_add_(dim, index, src)``."""
    inputs, backward = scattering(x, dim, src, adds=True)
    return written(
        x, inputs, backward, index, value=lambda: scatter_add(x.detach(), dim, index, src)
    )


def index_add_(x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """``x.index_add_(dim, index, source)``."""
    inputs, backward = index_adding(x, dim, source, alpha)
    return written(
        x, inputs, backward, index, source,
        value=lambda: index_add(x.detach(), dim, index, source),
    )  # fmt: skip


def index_copy_(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """``x.index_copy_(dim, index, source)``."""
    inputs, backward = index_copying(x, dim, source)
    return written(
        x, inputs, backward, index, source,
        value=lambda: index_copy(x.detach(), dim, index, source),
    )  # fmt: skip


def index_put_(
    x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """``x.index_put_(indices, values)``."""
    if any(each is not None and each.dtype in (BOOL, UINT8) for each in indices):
        raise DataDependent("setting elements by a mask")
    if accumulate:
        raise NotModelled("index_put_ that adds")
    refusing.put_at(_without_ones(values.shape), chosen_shape(x.shape, indices))
    needs_x, needs_values = x.requires_grad, values.requires_grad
    places = [place for place, each in enumerate(indices) if each is not None]

    def backward(g: Tensor, *chosen: Tensor) -> list[Tensor | None]:
        every: list[Tensor | None] = [None] * len(indices)
        for place, each in zip(places, chosen, strict=True):
            every[place] = each
        of_values = None
        if needs_values:
            of_values = taken(g, every)
        of_x = None
        if needs_x:
            of_x = filled(g)
        return [of_x, of_values]

    saved = [each for each in indices if each is not None]
    return written(x, (x, values), backward, *saved, value=lambda: put(x.detach(), indices, values))


def setitem(x: Tensor, index: Any, value: Operand) -> None:
    """``x[index] = value``: what ``copy_``, ``fill_`` and ``index_put_`` do to the part."""
    if isinstance(index, Tensor) and index.dtype in (BOOL, UINT8):
        if isinstance(value, Tensor) and value.numel != 1:
            raise NotModelled("setting elements by a mask")
        masked_fill_(x, index, value)
        return
    part, indices = viewed(x, index)
    if any(each is not None for each in indices):
        _index_put(part, indices, value)
    elif isinstance(value, Tensor):
        refusing.expanded(_without_ones(value.shape), part.shape)
        _copied(part, value)
    else:
        fill_(part, value)


def _without_ones(shape: Shape) -> Shape:
    """The shape that a value is taken for: without its first sizes of 1."""
    return shape if shape[:1] != (1,) else _without_ones(shape[1:])


def _index_put(x: Tensor, indices: Sequence[Tensor | None], value: Operand) -> None:
    if isinstance(value, Tensor):
        index_put_(x, indices, value)
    elif x.device.grad_enabled and x.requires_grad:
        raise NotModelled("setting elements by index of a trainable tensor")
