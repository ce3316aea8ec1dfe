"""Matrix products: calls of cuBLAS (torch/_inductor/kernel/mm.py, bmm.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.compiled.derive.operations import CALL
from nanolint.memory.tensors.autograd import record

if TYPE_CHECKING:
    from nanolint.memory.compiled.derive.capture import Capture, Formulas
    from nanolint.memory.tensors.layout import Shape
    from nanolint.memory.tensors.role import Role
    from nanolint.memory.tensors.tensor import Tensor


def product(t: Capture, x: Tensor, y: Tensor, shape: Shape, role: Role | None) -> Tensor:
    """``aten.mm`` or ``aten.bmm``, by the number of dimensions."""
    name = "mm" if len(shape) == 2 else "bmm"
    return t.make(name, CALL, (x, y), shape, x.dtype, role or x.role.made("product"))


def addmm(t: Capture, bias: Tensor, x: Tensor, y: Tensor, role: Role | None) -> Tensor:
    """``aten.addmm``; its backward pass is that of the eager operation."""
    from nanolint.memory.tensors.ops.linear import factors, product_backward

    shape = x.shape[0], y.shape[1]
    out = t.make("addmm", CALL, (bias, x, y), shape, x.dtype, role or x.role.made("product"))
    of_factors = product_backward(x, y, column_first=False)

    def backward(g: Tensor, *saved: Tensor) -> list[Tensor | None]:
        return [g, *of_factors(g, *saved)]

    return record(out, (bias, x, y), backward, *factors(x, y))


FORMULAS: Formulas = {"_product": product, "_addmm": addmm}
