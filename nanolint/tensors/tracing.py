"""Operations that are traced into a graph instead of being run: the seam for torch.compile.

While a device has a tracer its operations allocate nothing. Views and elementwise operations tell
the tracer what they are; the others, marked ``traced``, are looked up there by their names.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from nanolint.tensors.device import Device
    from nanolint.tensors.dtypes import Dtype, Number
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.ops.registry import Op
    from nanolint.tensors.role import Role

Eager = TypeVar("Eager", bound="Callable[..., Any]")


class Layer(Protocol):
    """A call of a layer that is traced."""

    def ends(self, out: Tensor) -> bool:
        """It has returned ``out``; returns whether calls of others can be copied from it."""

    def copy(self, x: Tensor, tensors: Sequence[Tensor], later: int) -> Tensor | None:
        """Returns the result of another layer that is called with ``x``, ``later`` calls of
        functions after this one; None if it has to be traced."""


class Tracer(Protocol):
    """Takes the operations of a device on which nothing runs."""

    layers: dict[object, Any]  # of those that may be alike, what is known while it traces
    half: Dtype | None  # autocast's type around what is traced

    def layer(self, x: Tensor, tensors: Sequence[Tensor], shared: Sequence[Tensor]) -> Layer:
        """A call of a layer that holds ``tensors`` begins; others are called with ``shared``."""

    def elementwise(
        self,
        op: Op,
        operands: Sequence[Tensor | Number],
        shape: Shape,
        strides: Strides,
        dtype: Dtype,
        role: Role,
        how: str,
    ) -> Tensor:
        """An operation on elements."""

    def view(
        self, x: Tensor, how: tuple[Any, ...], shape: Shape, strides: Strides, role: Role
    ) -> Tensor:
        """Another shape on x: (VIEW,), (PERMUTE, *order), (EXPAND,), (SLICE, dim, start, step),
        (SELECT, dim, index) or another view of the registry, with what it is given."""

    def create(
        self, op: Op, shape: Shape, dtype: Dtype, role: Role, value: str | None = None
    ) -> Tensor:
        """A tensor that depends on no other."""

    def region(self) -> AbstractContextManager[None]:
        """Of what is made inside nothing is kept for the backward pass."""

    def write(self, x: Tensor, inputs: Sequence[Tensor]) -> None:
        """Lets an operation on ``inputs`` write into ``x``. Raises NotTraced if others look at
        it."""

    def call(self, name: str, arguments: Any, named: Any) -> Any:
        """Runs an operation by its name. Raises NotTraced if it is not known."""

    def matching(self, gradient: Tensor, shape: Shape, dtype: Dtype, role: Role) -> Tensor:
        """A gradient summed to a shape and cast to a type."""

    def sum(self, old: Tensor, new: Tensor) -> Tensor:
        """Two gradients of one tensor, added."""

    def creates(self, names: dict[str, Any]) -> None:
        """The attributes of an object that is made while operations are traced."""

    def binds(self, names: dict[str, Any], name: str) -> None:
        """An attribute is about to be set."""

    def root(self, x: Tensor) -> Tensor | None:
        """Returns the tensor that ``x`` is a view of; None if it is not a view."""

    def seen_anew(self, x: Tensor) -> Tensor:
        """A view that was written into, as what saves it asks for it later."""

    def seen_as(self, x: Tensor, whole: Tensor) -> Tensor:
        """The part of ``whole`` that ``x`` is of its root."""

    def put_back(self, x: Tensor, whole: Tensor, part: Tensor | None) -> Tensor:
        """``whole`` with ``part``, or zeros, in the place that ``x`` has in its root."""

    def land(self, leaf: object, gradient: Tensor) -> None:
        """A parameter's gradient."""


def tracer_at(device: Device) -> Tracer | None:
    """Returns the tracer that takes the operations of a device; None if they run."""
    tracer: Tracer | None = device.tracer
    return tracer


def _tracer_of(arguments: Sequence[Any]) -> Tracer | None:
    """The tracer of the device that the first tensor among ``arguments`` lies on."""
    for each in arguments:
        if isinstance(each, Tensor):
            return tracer_at(each.device)
        if isinstance(each, (list, tuple)) and each and isinstance(each[0], Tensor):
            return tracer_at(each[0].device)
    return None


def traced(eager: Eager) -> Eager:
    """Lets an operation go to the tracer by its name, if there is one."""

    @wraps(eager)
    def call(*arguments: Any, **named: Any) -> Any:
        tracer = _tracer_of(arguments)
        if tracer is None:
            return eager(*arguments, **named)
        return tracer.call(eager.__name__, arguments, named)

    return cast("Eager", call)


def traced_after(check: Callable[..., None]) -> Callable[[Eager], Eager]:
    """The same for an operation whose arguments are checked before, whether it is traced or not."""

    def decorate(eager: Eager) -> Eager:
        inner = traced(eager)

        @wraps(eager)
        def call(*arguments: Any, **named: Any) -> Any:
            check(*arguments, **named)
            return inner(*arguments, **named)

        return cast("Eager", call)

    return decorate
