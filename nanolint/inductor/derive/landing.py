"""The backward pass of a graph that is traced: gradients on their way, and the inputs at which they
land."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.counting import is_half
from nanolint.inductor.derive.operations import REDUCTION
from nanolint.inductor.derive.writing import Writing
from nanolint.tensors.dtypes import FLOAT32
from nanolint.tensors.ops.pointwise import add
from nanolint.tensors.ops.views import cast, view

if TYPE_CHECKING:
    from nanolint.inductor.derive.operations import Operation
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor


class Landing(Writing):
    """The part of a capture that autograd's engine asks."""

    half: Dtype | None  # what autocast casts to
    _landed: dict[object, Operation]

    def matching(self, gradient: Tensor, shape: Shape, dtype: Dtype, role: Role) -> Tensor:
        """``sum_to_size`` and a cast, as autograd's engine makes them."""
        found = gradient
        if found.shape != shape:
            found = self.summed_to(found, shape, role)
        return cast(found, dtype, role.gradient)

    def summed_to(self, x: Tensor, shape: Shape, role: Role) -> Tensor:
        """The sum over the dimensions that ``shape`` was repeated over, under autocast in float32,
        and cast back (ATen/ExpandUtils.h, ``sum_to``)."""
        dtype, lead = x.dtype, x.ndim - len(shape)
        over = tuple(range(lead)) + tuple(
            lead + dim for dim, size in enumerate(shape) if size == 1 and x.shape[lead + dim] != 1
        )
        kept = tuple(1 if dim in over else size for dim, size in enumerate(x.shape))
        if over:
            wide = FLOAT32 if is_half(dtype) and self.half is not None else dtype
            x = self.make("sum", REDUCTION, (x,), kept, wide, role.gradient, over)
        return cast(view(x, shape) if lead else x, dtype, role.gradient)

    def sum(self, old: Tensor, new: Tensor) -> Tensor:
        """Two gradients of one tensor, added."""
        return add(old, new, role=old.role)

    def land(self, leaf: object, gradient: Tensor) -> None:
        """A parameter's gradient."""
        self._landed[leaf] = self.of(gradient)

    def gradient_of(self, learned: Tensor) -> Operation | None:
        """Returns the gradient of an input; None if it has none."""
        return self._landed.get(learned.node)
