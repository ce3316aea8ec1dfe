"""Random numbers that are drawn into a tensor, or by its probabilities.

In a compiled graph they are formulas of random numbers in float32
(torch/_decomp/decompositions_for_rng.py, torch/_inductor/decomposition.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.tensors.device import NotTraced
from nanolint.tensors.dtypes import FLOAT32, FLOATING
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.comparison import compare
from nanolint.tensors.ops.creation import rand_like
from nanolint.tensors.ops.inplace import quietly_only, replaced
from nanolint.tensors.ops.pointwise import add, mul
from nanolint.tensors.ops.views import cast
from nanolint.tensors.tensor import empty
from nanolint.tensors.tracing import tracer_at

if TYPE_CHECKING:
    from nanolint.tensors.dtypes import Dtype, Number
    from nanolint.tensors.ops.pointwise import Operand
    from nanolint.tensors.tensor import Tensor


def bernoulli(x: Tensor, p: Number | None = None) -> Tensor:
    """``torch.bernoulli``: of the type of the probabilities; zeros flow back."""
    dtype = x.dtype if x.dtype.kind >= FLOATING else x.device.floats
    if tracer_at(x.device) is None:
        return empty(x.device, x.shape, dtype, x.role.made("draws"))
    if p is not None or x.requires_grad:
        raise NotTraced("bernoulli of one probability, or of a trainable tensor,")
    return _drawn(x, x, dtype)


def bernoulli_(x: Tensor, p: Operand = 0.5, **_options: Any) -> Tensor:
    """``x.bernoulli_(p)``."""
    quietly_only(x, p)
    return x if tracer_at(x.device) is None else replaced(x, _drawn(x, p, x.dtype))


def _drawn(x: Tensor, p: Operand, dtype: Dtype) -> Tensor:
    return cast(compare(rand_like(x, dtype=FLOAT32), p, ops.LT), dtype)


def normal_(x: Tensor, mean: Number = 0.0, std: Number = 1.0, **_options: Any) -> Tensor:
    """``x.normal_(mean, std)``."""
    quietly_only(x)
    if tracer_at(x.device) is None:
        return x
    return replaced(x, add(mul(rand_like(x), std), mean))


def drawn_(x: Tensor, *arguments: Any, how: str, **_options: Any) -> Tensor:
    """``x.uniform_()`` and others whose formulas in a graph are not known."""
    quietly_only(x, *arguments)
    if tracer_at(x.device) is not None:
        raise NotTraced(how)
    return x
