"""Complex numbers, as rotary embeddings use them (aten/src/ATen/native/ComplexHelper.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.pointwise import elementwise
from nanolint.tensors.ops.views import contiguous
from nanolint.tensors.tensor import Tensor, empty
from nanolint.tensors.tracing import traced

if TYPE_CHECKING:
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape, Strides


def _same_memory(x: Tensor, shape: Shape, strides: Strides, dtype: Dtype) -> Tensor:
    out = x.view(shape, strides, x.role.reshaped)
    out.dtype = dtype
    return out


@traced
def view_as_complex(x: Tensor) -> Tensor:
    """``torch.view_as_complex``: pairs (..., 2) of float32 as complex64."""
    dtype = COMPLEX128 if x.dtype is FLOAT64 else COMPLEX64
    strides = tuple(each // 2 for each in x.strides[:-1])
    out = _same_memory(x, x.shape[:-1], strides, dtype)
    return record(out, (x,), lambda g: [view_as_real(g)])


def view_as_real(x: Tensor) -> Tensor:
    """``torch.view_as_real``."""
    dtype = FLOAT64 if x.dtype is COMPLEX128 else FLOAT32
    strides = (*(2 * each for each in x.strides), 1)
    out = _same_memory(x, (*x.shape, 2), strides, dtype)
    return record(out, (x,), lambda g: [view_as_complex(contiguous(g))])


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """``torch.polar``. Its gradient is not modelled: models make tables of it."""
    dtype = COMPLEX128 if abs.dtype is FLOAT64 else COMPLEX64
    return elementwise(dtype, ops.POLAR, abs, angle)


def complex(real: Tensor, imag: Tensor) -> Tensor:
    """``torch.complex``."""
    dtype = COMPLEX128 if real.dtype is FLOAT64 else COMPLEX64
    out = elementwise(dtype, ops.COMPLEX, real, imag)

    def backward(g: Tensor) -> list[Tensor | None]:
        return [_part(g), _part(g)]

    return record(out, (real, imag), backward)


def real(x: Tensor) -> Tensor:
    """``x.real`` and ``x.imag``: every second number."""
    dtype = FLOAT64 if x.dtype is COMPLEX128 else FLOAT32
    out = _same_memory(x, x.shape, tuple(2 * each for each in x.strides), dtype)
    whole, role = x.dtype, x.role.gradient

    def backward(g: Tensor) -> list[Tensor | None]:
        return [empty(g.device, g.shape, whole, role)]

    return record(out, (x,), backward)


def _part(g: Tensor) -> Tensor:
    dtype = FLOAT64 if g.dtype is COMPLEX128 else FLOAT32
    return _same_memory(g, g.shape, tuple(2 * each for each in g.strides), dtype)
