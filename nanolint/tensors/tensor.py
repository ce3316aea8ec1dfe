"""Tensors: a shape on memory of the card, and the node that made it."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from nanolint.tensors.layout import contiguous_strides, elements, is_contiguous

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nanolint.tensors.device import Device, Storage
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.role import Role


class Node:
    """The operation that made a tensor differentiable: a place in the graph of a backward pass.

    ``edges`` say for each input which node, and which output of it, takes the gradient.
    ``outputs`` are the shape, type and role of what it made, which ``gradients`` have to match.
    Newer nodes have higher numbers.
    """

    __slots__ = ("edges", "gradients", "number", "outputs")
    inside: Callable[[], Sequence[Node]] | None = None  # the nodes that one stands for
    runs_once = False  # whether PyTorch refuses to keep what it saved

    def __init__(
        self,
        edges: tuple[tuple[Node, int] | None, ...],
        outputs: tuple[tuple[Shape, Dtype, Role], ...],
        number: int,
    ) -> None:
        self.edges = edges
        self.outputs = outputs
        self.number = number
        self.gradients: list[Tensor | None] = [None] * len(outputs)

    def run(self) -> list[Tensor | None]:
        """The gradients of the inputs, one an edge; what came in is let go."""
        raise NotImplementedError


class Tensor:
    """A shape on a storage. ``node`` is what made it differentiable; ``index`` which output.

    A view shares the storage of another tensor, and holds the one that it is a view of as ``base``.
    ``in_flight`` is as the storage's, for this tensor; ``held`` is what ``held.py`` knows of it.
    """

    __slots__ = (
        "__weakref__",
        "base",
        "device",
        "dtype",
        "held",
        "in_flight",
        "index",
        "is_view",
        "node",
        "role",
        "shape",
        "storage",
        "strides",
    )

    def __init__(
        self,
        device: Device,
        storage: Storage | None,
        shape: Shape,
        strides: Strides,
        dtype: Dtype,
        role: Role,
        is_view: bool = False,
    ) -> None:
        self.device = device
        self.storage = storage  # None where it has no element
        self.shape = shape
        self.strides = strides
        self.dtype = dtype
        self.role = role
        self.is_view = is_view
        self.base: Tensor | None = None
        self.node: Node | None = None
        self.held: Any = None
        self.index = 0
        self.in_flight = 0

    def __repr__(self) -> str:
        return f"<{self.role.describe(self.shape, self.dtype)}>"

    @property
    def numel(self) -> int:
        """Elements."""
        return prod(self.shape)

    @property
    def ndim(self) -> int:
        """Dimensions."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of its elements; of a view not those between them."""
        return self.dtype.itemsize * prod(self.shape)

    @property
    def requires_grad(self) -> bool:
        """Whether a backward pass sends it a gradient."""
        return self.node is not None

    @property
    def is_contiguous(self) -> bool:
        """Whether its elements lie in order."""
        return is_contiguous(self.shape, self.strides)

    def view(self, shape: Shape, strides: Strides, role: Role) -> Tensor:
        """Another shape on the same memory, outside autograd."""
        made = Tensor(self.device, self.storage, shape, strides, self.dtype, role, is_view=True)
        made.base = self.base or self
        return made

    def detach(self) -> Tensor:
        """The same tensor, without what made it."""
        return Tensor(
            self.device, self.storage, self.shape, self.strides, self.dtype, self.role, self.is_view
        )


class Rows:
    """``count`` tensors, each like ``row``, as many as a formula says: what a batch is stacked
    of. What takes it for a list cannot be read with symbolic numbers."""

    __slots__ = ("count", "row")

    def __init__(self, row: Tensor, count: int) -> None:
        self.row = row
        self.count = count


def empty(
    device: Device, shape: Shape, dtype: Dtype, role: Role, strides: Strides | None = None
) -> Tensor:
    """A new tensor; without ``strides`` its elements lie in order."""
    nbytes = dtype.itemsize * elements(shape)
    storage = device.alloc(nbytes, role.describe(shape, dtype), role.component) if nbytes else None
    if strides is None:
        strides = contiguous_strides(shape)
    return Tensor(device, storage, shape, strides, dtype, role)


def autograd_follows(device: Device, tensors: Iterable[Tensor]) -> bool:
    """Whether a backward pass goes through what is made of ``tensors`` now."""
    return device.grad_enabled and any(each.requires_grad for each in tensors)
