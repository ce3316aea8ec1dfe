"""Products of 8-bit floating-point matrices (aten/src/ATen/native/cuda/Blas.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors.tensor import empty
from nanolint.tensors.tracing import traced
from nanolint.tensors.work import of_product

if TYPE_CHECKING:
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.tensor import Tensor


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

    Raises ValueError where PyTorch refuses how the matrices lie.
    """
    if x.strides != (x.shape[1], 1) or mat2.strides != (1, mat2.shape[0]):
        raise ValueError("torch._scaled_mm needs a row-major matrix and a column-major one")
    role = x.role.made("product")
    out = empty(x.device, (x.shape[0], mat2.shape[1]), out_dtype or x.dtype, role)
    x.device.multiply(biased=True)
    x.device.compute(x.dtype, of_product(out.shape, x.shape[1]))
    return out
