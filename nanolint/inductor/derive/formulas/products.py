"""Products and convolutions: calls of cuBLAS (torch/_inductor/kernel/mm.py, bmm.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.counting import is_half
from nanolint.inductor.derive.formulas.reductions import reduce
from nanolint.tensors.autograd import record
from nanolint.tensors.device import NotTraced, NotVerified
from nanolint.tensors.dtypes import FLOAT32
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.conversion import to_half
from nanolint.tensors.ops.pointwise import add, mul
from nanolint.tensors.ops.views import cast, contiguous, transpose, unsqueeze, view
from nanolint.tensors.unknown import NotModelled

if TYPE_CHECKING:
    from nanolint.inductor.derive.capture import Capture, Formulas
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor


# torch/_inductor/kernel/conv.py: 2.13 copies what a convolution's backward pass reads where it does
# not lie in order (convolution_backward_lowering). 2.12 reads it as it lies (lowering.py), and 2.15
# copied what goes in as well, a quarter more at the peak of one expression.
CONVOLUTIONS_OF = (2, 13)

# torch/_inductor/decomposition.py, mm and bmm: outer products are multiplied element by element. In
# 2.12.1, not in 2.11.
OUTER_MULTIPLIED_SINCE = (2, 12)


def product(t: Capture, x: Tensor, y: Tensor, shape: Shape, role: Role | None) -> Tensor:
    """``aten.mm`` or ``aten.bmm``, by the number of dimensions."""
    op = ops.MM if len(shape) == 2 else ops.BMM
    if x.shape[-1] == 1 and t.device.release >= OUTER_MULTIPLIED_SINCE:
        role = role or x.role.made("product")
        with t.device.no_grad():
            if op is ops.BMM:
                return contiguous(mul(x, y, role=role))
            if 1 not in shape:
                return mul(x, y, role=role)
    return t.make(op, (x, y), shape, x.dtype, role or x.role.made("product"))


def scaled_mm(
    t: Capture,
    x: Tensor,
    mat2: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    out_dtype: Dtype | None = None,
    use_fast_accum: bool = False,
) -> Tensor:
    """``aten._scaled_mm``, a call of cuBLASLt (torch/_inductor/kernel/mm.py)."""
    shape, role = (x.shape[0], mat2.shape[1]), x.role.made("product")
    return t.make(ops.SCALED_MM, (x, mat2, scale_a, scale_b), shape, out_dtype or x.dtype, role)


def addmm(
    t: Capture, bias: Tensor, x: Tensor, y: Tensor, role: Role | None, _beta: float = 1
) -> Tensor:
    """``aten.addmm``; its backward pass is that of the eager operation."""
    from nanolint.tensors.ops.linear import factors, product_backward

    shape = x.shape[0], y.shape[1]
    out = t.make(ops.ADDMM, (bias, x, y), shape, x.dtype, role or x.role.made("product"))
    of_factors = product_backward(x, y, column_first=False)

    def backward(g: Tensor, *saved: Tensor) -> list[Tensor | None]:
        return [g, *of_factors(g, *saved)]

    return record(out, (bias, x, y), backward, *factors(x, y))


def added(t: Capture, bias: Tensor, x: Tensor, y: Tensor, shape: Shape) -> Tensor:
    """``aten.baddbmm``, a call of cuBLAS, without its gradient."""
    return t.make(ops.BADDBMM, (bias, x, y), shape, x.dtype, x.role.made("product"))


def vectors(t: Capture, x: Tensor, y: Tensor, role: Role | None) -> Tensor:
    """``aten.dot`` and ``aten.mv``: a sum of products, in float32 (torch/_decomp/decompositions.py,
    ``pw_cast_for_opmath``)."""
    wide = FLOAT32 if is_half(x.dtype) else x.dtype
    with t.device.no_grad():
        products = mul(cast(x, wide), cast(y, wide))
        summed = reduce(t, ops.SUM, products, (x.ndim - 1,), False, wide)
        out = cast(summed, x.dtype, role or x.role.made("product"))

    def backward(g: Tensor, x: Tensor, y: Tensor) -> list[Tensor | None]:
        if x.ndim == 1:
            return [mul(g, y), mul(g, x)]
        return [mul(unsqueeze(g, 1), y), vectors(t, transpose(x, 0, 1), g, None)]

    return record(out, (x, y), backward, x, y)


def conv1d(
    t: Capture,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int] = 1,
    padding: int | tuple[int] = 0,
    dilation: int | tuple[int] = 1,
    groups: int = 1,
) -> Tensor:
    """``aten.convolution``, a library call; a bias is added, and its gradient summed, elsewhere."""
    if t.device.release != CONVOLUTIONS_OF:
        raise NotVerified("conv1d by another PyTorch than 2.13")
    if not isinstance(padding, (int, tuple)):
        raise NotModelled(f"a convolution with padding {padding!r}")
    if groups != x.shape[-2] or groups == 1:
        raise NotTraced("conv1d by cuDNN")
    shift = None if bias is None else to_half(bias)
    kernel, source = to_half(weight), to_half(x)
    step, pad, gap = (
        each if isinstance(each, int) else each[0] for each in (stride, padding, dilation)
    )
    length = (x.shape[-1] + 2 * pad - gap * (weight.shape[-1] - 1) - 1) // step + 1
    shape = (*x.shape[:-2], weight.shape[0], length)
    role = x.role.made("convolution")
    out = t.make(ops.CONVOLUTION, (source, kernel), shape, source.dtype, role, step, pad, gap)
    roles = source.role.gradient, kernel.role.gradient

    def backward(g: Tensor, source: Tensor, kernel: Tensor) -> list[Tensor | None]:
        pairs = zip((source, kernel), roles, strict=True)
        results = [(each.shape, None, each.dtype, role) for each, role in pairs]
        return [*t.several(ops.CONVOLUTION_BACKWARD, (g, source, kernel), results)]

    record(out, (source, kernel), backward, source, kernel)
    return out if shift is None else add(out, view(shift, (-1, 1)))


FORMULAS: Formulas = {
    "_added": added,
    "product_and_bias": addmm,
    "_dot": vectors,
    "_mv": vectors,
    "_product": product,
    "conv1d": conv1d,
    "scaled_mm": scaled_mm,
}
