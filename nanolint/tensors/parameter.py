"""Parameters and buffers: tensors that a model owns and that move to the card with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tape.tape import Component
from nanolint.tensors.autograd import Leaf
from nanolint.tensors.dtypes import FLOAT32
from nanolint.tensors.layout import contiguous_strides, elements
from nanolint.tensors.role import role
from nanolint.tensors.tensor import Tensor, empty

if TYPE_CHECKING:
    from nanolint.tensors.device import Device
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape


class Buffer(Tensor):
    """A tensor that a model keeps in addition to its parameters. It is on the host until it is
    moved."""

    __slots__ = ()

    def __init__(self, device: Device, name: str, shape: Shape, dtype: Dtype = FLOAT32) -> None:
        of_model = role(name, Component.PARAMETERS)
        elements(shape)
        super().__init__(device, None, shape, contiguous_strides(shape), dtype, of_model)

    def move(self) -> None:
        """Take memory on the card, if it was not made there."""
        if self.storage is not None:
            return
        self.storage = self.copy("parameter").storage

    def retype(self, dtype: Dtype) -> None:
        """Have another type: on the card in other memory, made before the old one goes."""
        self.dtype = dtype
        if self.storage is not None:
            self.storage = self.copy("parameter").storage

    def copy(self, what: str) -> Tensor:
        """Another one on the card, called ``what``."""
        called = role(f"{what} {self.role.label}", self.role.component)
        return empty(self.device, self.shape, self.dtype, called)


class Parameter(Buffer):
    """A tensor that is trained. Its leaf has its gradient, also while it is frozen."""

    __slots__ = ("_frozen",)

    def __init__(self, device: Device, name: str, shape: Shape, dtype: Dtype = FLOAT32) -> None:
        super().__init__(device, name, shape, dtype)
        self.node = Leaf(self)
        self._frozen: Leaf | None = None

    def require_gradient(self, mode: bool) -> None:
        """Let it learn, or freeze it: ``requires_grad_``."""
        if not mode and isinstance(self.node, Leaf):
            self._frozen, self.node = self.node, None
        elif mode and self.node is None:
            self.node = Leaf(self) if self.gradient is None else self._frozen

    @property
    def gradient(self) -> Tensor | None:
        """``.grad``."""
        leaf = self.node or self._frozen
        return leaf.gradient if isinstance(leaf, Leaf) else None

    @gradient.setter
    def gradient(self, gradient: Tensor | None) -> None:
        leaf = self.node or self._frozen
        if isinstance(leaf, Leaf):
            leaf.gradient = gradient

    @property
    def leaf(self) -> Leaf:
        """The node that gathers its gradient. Raises TypeError if it is frozen."""
        if not isinstance(self.node, Leaf):
            raise TypeError(f"{self} is frozen")
        return self.node


class LeafTensor(Parameter):
    """A tensor that learns and is not a parameter of a module: ``torch.zeros(...,
    requires_grad=True)``."""

    __slots__ = ()

    def __init__(self, made: Tensor) -> None:
        super().__init__(made.device, made.role.label, made.shape, made.dtype)
        self.storage, self.strides = made.storage, made.strides
        self.leaf.holds = made.detach()


class Registered(Tensor):
    """The result of ``nn.Buffer``: a module that it is set on has it as a buffer."""

    __slots__ = ("persistent",)

    def __init__(self, made: Tensor, *, persistent: bool) -> None:
        super().__init__(
            made.device, made.storage, made.shape, made.strides, made.dtype, made.role, made.is_view
        )
        self.persistent = persistent
