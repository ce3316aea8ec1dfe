"""Matrix products (aten/src/ATen/native/LinearAlgebra.cpp and Linear.cpp, cuda/Blas.cpp).

Products of 8-bit floating-point matrices (aten/src/ATen/native/cuda/Blas.cpp).

Sums of products over chosen dimensions (aten/src/ATen/native/Linear.cpp).
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nanolint.tape.torch import MATRICES_ADDED_BY_LT_SINCE, OUTER_PRODUCTS_BY_TRITON_SINCE
from nanolint.tensors import refusing
from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import COMPLEX, FLOAT32, promote
from nanolint.tensors.layout import broadcast, is_contiguous
from nanolint.tensors.ops.conversion import to_half
from nanolint.tensors.ops.pointwise import add, mul
from nanolint.tensors.ops.views import (
    cast,
    contiguous,
    expand,
    permute,
    reshape,
    squeeze,
    t,
    transpose,
    unsafe_view,
    unsqueeze,
    view,
)
from nanolint.tensors.tensor import empty
from nanolint.tensors.tracing import traced, traced_after, tracer_at
from nanolint.tensors.unknown import NotModelled
from nanolint.tensors.work import of_product

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.tensors.dtypes import Dtype, Number
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor


def linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, role: Role | None = None
) -> Tensor:
    """``F.linear``: x (..., in) times weight (out, in), plus bias (out)."""
    half_bias = None if bias is None else to_half(bias)
    half_weight = to_half(weight)
    flow = to_half(x)
    if half_bias is None:
        return _matmul(flow, t(half_weight), role)
    if flow.ndim == 2:
        return product_and_bias(half_bias, flow, t(half_weight), role)
    if flow.ndim > 2 and flow.is_contiguous:
        flat = reshape(flow, (prod(x.shape[:-1]), x.shape[-1]))
        out = product_and_bias(half_bias, flat, t(half_weight), role)
        return view(out, (*x.shape[:-1], weight.shape[0]))
    out = _matmul(flow, t(half_weight), role)
    if tracer_at(out.device) is not None:
        return add(out, half_bias, role=out.role)
    return record(out.detach(), (out, half_bias), lambda g: [g, g])  # added in place


def matmul(x: Tensor, other: Tensor, role: Role | None = None) -> Tensor:
    """``x @ other``."""
    second = to_half(other)
    return _matmul(to_half(x), second, role)


def plain_matmul(x: Tensor, other: Tensor) -> Tensor:
    """``x @ other``, outside autocast."""
    return _matmul(x, other, None)


def mm(x: Tensor, mat2: Tensor, role: Role | None = None) -> Tensor:
    """``torch.mm`` of (n, k) and (k, m)."""
    second = to_half(mat2)
    return _mm(to_half(x), second, role)


def bmm(x: Tensor, mat2: Tensor, role: Role | None = None) -> Tensor:
    """``torch.bmm`` of (b, n, k) and (b, k, m)."""
    second = to_half(mat2)
    return _bmm(to_half(x), second, role)


def addmm(x: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """``torch.addmm``: x plus (n, k) times (k, m)."""
    second = to_half(mat2)
    first = to_half(mat1)
    bias = to_half(x)
    learns = x.device.grad_enabled and any(each.requires_grad for each in (bias, first, second))
    if learns and (beta != 1 or alpha != 1):  # each gradient is a product more
        raise NotModelled("the gradient of addmm with factors")
    return product_and_bias(bias, first, second, None, beta)


def baddbmm(
    x: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """``torch.baddbmm``: beta times x plus alpha times (b, n, k) times (b, k, m)."""
    second = to_half(batch2)
    first = to_half(batch1)
    bias = to_half(x)
    refusing.of_batches(first, second)
    shape = (first.shape[0], first.shape[1], second.shape[2])
    refusing.expanded(bias.shape, shape)
    out = _added(bias, first, second, shape)
    needs_bias = bias.requires_grad
    needs = first.requires_grad, second.requires_grad
    roles = first.role.gradient.reshaped, second.role.gradient.reshaped

    def backward(g: Tensor, x: Tensor | None, y: Tensor | None) -> list[Tensor | None]:
        of_x = of_y = None
        if needs[0] and y is not None:
            product = _times(g, transpose(y, 1, 2), roles[0])
            of_x = product if alpha == 1 else mul(product, alpha)
            del product
        if needs[1] and x is not None:
            product = _times(transpose(x, 1, 2), g, roles[1])
            of_y = product if alpha == 1 else mul(product, alpha)
            del product
        of_bias = (g if beta == 1 else mul(g, beta)) if needs_bias else None
        return [of_bias, of_x, of_y]

    return record(out, (bias, first, second), backward, *factors(first, second))


@traced
def _added(_bias: Tensor, x: Tensor, y: Tensor, shape: Shape) -> Tensor:
    return _product(x, y, shape, None)


def outer(x: Tensor, vec2: Tensor) -> Tensor:
    """``torch.outer``: a column times a row, which is a product of elements."""
    return mul(reshape(x, (x.numel, 1)), vec2)


def _matmul(x: Tensor, y: Tensor, role: Role | None) -> Tensor:
    """By the numbers of dimensions, as ``_matmul_impl``."""
    if x.ndim == 1 and y.ndim == 1:
        return _dot(x, y, role)
    if x.ndim == 2 and y.ndim == 1:
        return _mv(x, y, role)
    if x.ndim == 1 and y.ndim == 2:
        return squeeze(_mm(unsqueeze(x, 0), y, role), 0)
    if x.ndim == 2 and y.ndim == 2:
        return _mm(x, y, role)
    if _folds(x, y):
        return _folded(x, y, role)
    return _batched(x, y, role)


def _folds(x: Tensor, y: Tensor) -> bool:
    """Whether the larger one becomes a matrix, so that no batch is repeated (``should_fold``)."""
    larger = x.ndim >= y.ndim
    one, other = (x, y) if larger else (y, x)
    if one.ndim < 3 or other.ndim > 2:
        return False
    if other.requires_grad or (other.base is not None and other.base.requires_grad):
        return True
    if x.ndim == 2:
        return False
    shape, strides = (
        (one.shape, one.strides) if larger else (_swapped(one.shape), _swapped(one.strides))
    )
    return all(strides[dim] == strides[dim + 1] * shape[dim + 1] for dim in range(len(shape) - 2))


def _swapped(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return (*sizes[:-2], sizes[-1], sizes[-2])


def _folded(x: Tensor, y: Tensor, role: Role | None) -> Tensor:
    larger = x.ndim >= y.ndim
    one, other = (x, y) if larger else (transpose(y, -1, -2), t(x))
    rows = one.shape[:-1]
    flat = reshape(one, (prod(rows), one.shape[-1]))
    if other.ndim == 1:
        return unsafe_view(_mv(flat, other, role), rows)
    out = unsafe_view(_mm(flat, other, role), (*rows, other.shape[1]))
    return out if larger else contiguous(transpose(out, -1, -2))


def _batched(x: Tensor, y: Tensor, role: Role | None) -> Tensor:
    n = x.shape[-2] if x.ndim > 1 else 1
    p = y.shape[-1] if y.ndim > 1 else 1
    one = unsqueeze(x, 0) if x.ndim == 1 else x
    other = unsqueeze(y, 1) if y.ndim == 1 else y
    batch = broadcast(one.shape[:-2], other.shape[:-2])
    count = prod(batch)
    left = reshape(expand(one, (*batch, n, x.shape[-1])), (count, n, x.shape[-1]))
    rows = other.shape[-2]
    right = reshape(expand(other, (*batch, rows, p)), (count, rows, p))
    shape = batch
    if x.ndim > 1:
        shape = (*shape, n)
    if y.ndim > 1:
        shape = (*shape, p)
    return unsafe_view(_bmm(left, right, role), shape)


def _mm(x: Tensor, y: Tensor, role: Role | None) -> Tensor:
    refusing.of_matrices(x, y)
    out = _product(x, y, (x.shape[0], y.shape[1]), role)
    inputs = x, y
    backward = product_backward(x, y, column_first=True)
    return record(out, inputs, backward, *factors(x, y))


@traced_after(refusing.of_vectors)
def _dot(x: Tensor, y: Tensor, role: Role | None) -> Tensor:
    out = empty(x.device, (), x.dtype, role or x.role.made("product"))
    x.device.multiply()
    needs_x, needs_y = x.requires_grad, y.requires_grad

    def backward(g: Tensor, x: Tensor | None, y: Tensor | None) -> list[Tensor | None]:
        of_x = mul(g, y) if needs_x and y is not None else None
        return [of_x, mul(g, x) if needs_y and x is not None else None]

    return record(out, (x, y), backward, *factors(x, y))


@traced_after(refusing.of_vectors)
def _mv(x: Tensor, y: Tensor, role: Role | None) -> Tensor:
    """A matrix (n, k) times a vector (k)."""
    out = empty(x.device, x.shape[:1], x.dtype, role or x.role.made("product"))
    x.device.multiply()
    needs_x, needs_y = x.requires_grad, y.requires_grad

    def backward(g: Tensor, x: Tensor | None, y: Tensor | None) -> list[Tensor | None]:
        of_x = None if y is None or not needs_x else outer(g, y)
        of_y = None if x is None or not needs_y else _mv(t(x), g, None)
        return [of_x, of_y]

    return record(out, (x, y), backward, *factors(x, y))


def _bmm(x: Tensor, y: Tensor, role: Role | None) -> Tensor:
    refusing.of_batches(x, y)
    out = _product(x, y, (x.shape[0], x.shape[1], y.shape[2]), role)
    needs_x, needs_y = x.requires_grad, y.requires_grad
    roles = x.role.gradient, y.role.gradient

    def backward(g: Tensor, x: Tensor, y: Tensor) -> list[Tensor | None]:
        of_y = _times(transpose(x, 1, 2), g, roles[1].reshaped) if needs_y else None
        of_x = _times(g, transpose(y, 1, 2), roles[0].reshaped) if needs_x else None
        return [of_x, of_y]

    return record(out, (x, y), backward, *factors(x, y))


def _times(x: Tensor, y: Tensor, role: Role) -> Tensor:
    """A product of a backward pass. One that is traced is under the autocast that is around what is
    compiled, whatever the forward pass turned off in it (torch/_functorch/config.py,
    ``backward_pass_autocast``)."""
    tracer = tracer_at(x.device)
    one, other = x, y
    if tracer is not None and tracer.half is not None and FLOAT32 in (x.dtype, y.dtype):
        other = cast(y, tracer.half)
        one = cast(x, tracer.half)
    return _mm(one, other, role) if x.ndim == 2 else _bmm(one, other, role)


@traced_after(refusing.of_sum)
def product_and_bias(
    bias: Tensor, x: Tensor, y: Tensor, role: Role | None, beta: Number = 1
) -> Tensor:
    rows, columns = x.shape[0], y.shape[1]
    is_row = bias.shape in ((columns,), (1, columns)) and bias.is_contiguous and beta == 1
    by_lt = is_row or _is_added_by_lt(bias, (rows, columns))
    out = _product(x, y, (rows, columns), role, biased=by_lt and y.shape[0] > 1 and columns > 1)
    of_factors = product_backward(x, y, column_first=False)

    def backward(g: Tensor, *saved: Tensor) -> list[Tensor | None]:
        return [g, *of_factors(g, *saved)]

    return record(out, (bias, x, y), backward, *factors(x, y))


def _is_added_by_lt(bias: Tensor, shape: Shape) -> bool:
    """Whether cuBLASLt adds a whole matrix: of half precision, in rows."""
    is_new = bias.device.release >= MATRICES_ADDED_BY_LT_SINCE
    return is_new and bias.dtype.itemsize == 2 and bias.shape == shape and bias.strides[1] == 1


def factors(x: Tensor, y: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """Returns the factors that the gradient of the other one needs."""
    return x if y.requires_grad else None, y if x.requires_grad else None


@traced
def _product(
    x: Tensor, y: Tensor, shape: Shape, role: Role | None, *, biased: bool = False
) -> Tensor:
    """The result of a product, and copies of operands that cuBLAS cannot read as they lie."""
    device = x.device
    out = empty(device, shape, x.dtype, role or x.role.made("product"))
    is_outer = len(shape) == 3 and x.shape[-1] == 1 and x.dtype.kind != COMPLEX
    if is_outer and device.release >= OUTER_PRODUCTS_BY_TRITON_SINCE:
        device.compute(x.dtype, of_product(shape, 1))
        return out
    copies = [
        empty(device, each.shape, each.dtype, each.role.reshaped)
        for each in (x, y)
        if not is_readable(each.shape[-2:], each.strides[-2:])
    ]
    device.multiply(biased=biased)
    device.compute(x.dtype, of_product(shape, x.shape[-1]))
    del copies
    return out


def is_readable(shape: Shape, strides: Strides) -> bool:
    """Whether cuBLAS reads a matrix as it lies: rows or columns in order, one after the other or
    with gaps (aten/src/ATen/native/cuda/Blas.cpp, ``prepare_batch_matrix_for_cublas``)."""
    if is_contiguous(shape, strides) and 0 not in strides:
        return True
    (rows, columns), (row, column) = shape, strides
    return (column == 1 and row >= max(1, columns)) or (row == 1 and column >= max(1, rows))


def product_backward(
    x: Tensor, y: Tensor, *, column_first: bool
) -> Callable[..., list[Tensor | None]]:
    """Gradients of both matrices, each laid out as its own; the formulas run by argument name.

    torch/csrc/autograd/FunctionsManual.cpp, ``mm_mat1_grad`` and ``mm_mat2_grad``.
    """
    needs_x, needs_y = x.requires_grad, y.requires_grad
    x_by_column = x.strides[0] == 1 and x.strides[1] == x.shape[0]
    y_by_column = y.strides[0] == 1 and y.strides[1] == y.shape[0]
    x_role, y_role = x.role.gradient, y.role.gradient

    def of_x(g: Tensor, y: Tensor) -> Tensor | None:
        if not needs_x:
            return None
        return t(_times(y, t(g), x_role)) if x_by_column else _times(g, t(y), x_role)

    def of_y(g: Tensor, x: Tensor) -> Tensor | None:
        if not needs_y:
            return None
        return t(_times(t(g), x, y_role)) if y_by_column else _times(t(x), g, y_role)

    def backward(g: Tensor, x: Tensor, y: Tensor) -> list[Tensor | None]:
        if column_first:
            second = of_y(g, x)
            return [of_x(g, y), second]
        first = of_x(g, y)
        return [first, of_y(g, x)]

    return backward


@traced
def scaled_mm(
    x: Tensor,
    mat2: Tensor,
    scale_a: Tensor | None = None,
    scale_b: Tensor | None = None,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: Dtype | None = None,
    use_fast_accum: bool = False,
) -> Tensor:
    """``torch._scaled_mm`` of (n, k) in rows and (k, m) in columns, which cuBLASLt does.

    Raises ValueError if PyTorch refuses how the matrices lie.
    """
    if x.strides != (x.shape[1], 1) or mat2.strides != (1, mat2.shape[0]):
        raise ValueError("torch._scaled_mm needs a row-major matrix and a column-major one")
    role = x.role.made("product")
    out = empty(x.device, (x.shape[0], mat2.shape[1]), out_dtype or x.dtype, role)
    x.device.multiply(biased=True)
    x.device.compute(x.dtype, of_product(out.shape, x.shape[1]))
    return out


def inner(x: Tensor, other: Tensor) -> Tensor:
    """``torch.inner``."""
    if x.ndim == other.ndim == 1:
        return dot(x, other)
    return tensordot(x, other, ([-1], [-1]))


def tensordot(x: Tensor, other: Tensor, dims: int | Sequence[Sequence[int]] = 2) -> Tensor:
    """``torch.tensordot``: one product of matrices, under autocast in the wider type."""
    if x.device.half is not None:
        wide = promote(x.dtype, other.dtype)
        with x.device.uncast():
            return tensordot(cast(x, wide), cast(other, wide), dims)
    if isinstance(dims, int):
        over = list(range(x.ndim - dims, x.ndim)), list(range(dims))
    else:
        over = [each % x.ndim for each in dims[0]], [each % other.ndim for each in dims[1]]
    left = [each for each in range(x.ndim) if each not in over[0]]
    right = [each for each in range(other.ndim) if each not in over[1]]
    rows, columns = [x.shape[each] for each in left], [other.shape[each] for each in right]
    between = prod(x.shape[each] for each in over[0])
    first = reshape(permute(x, (*left, *over[0])), (prod(rows), between))
    second = reshape(permute(other, (*over[1], *right)), (between, prod(columns)))
    return reshape(mm(first, second), (*rows, *columns))


def dot(x: Tensor, tensor: Tensor) -> Tensor:
    """``torch.dot`` of two vectors, which autocast leaves alone."""
    return plain_matmul(x, tensor)
