"""The form of a module: all that its events follow from, and a copy of it on another card.

Two modules of one form, called with tensors of one kind, allocate and release the same.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from nanolint.interpreter.torch.modules import HOOKS, PRE_HOOKS, is_module
from nanolint.interpreter.values import Class, Function, Instance, Native, Property, Static
from nanolint.interpreter.watched import plain
from nanolint.tensors.autograd import Leaf
from nanolint.tensors.device import Device
from nanolint.tensors.dtypes import Dtype
from nanolint.tensors.parameter import Buffer, Parameter
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from nanolint.interpreter.values import Value

PLAIN = (int, float, str, bool, type(None), Dtype, complex)
OF_CODE = (Function, Class, Native, Property, Static)  # nothing changes them but statements


class Unlike(Exception):
    """A module holds what a copy of it could not."""


class Form:
    """Takes a module apart; ``parameters`` are those that learn, each once, in its order, and
    ``tensors`` takes all that it holds, which a layer may let go while it is called."""

    def __init__(self, card: Device, tensors: list[Tensor] | None = None) -> None:
        self._card, self._tensors = card, tensors
        self._places: dict[int, int] = {}
        self.parameters: list[Parameter] = []

    def of(self, value: Value) -> Hashable:
        """The form of a value. Raises Unlike."""
        value = plain(value)
        kind = type(value)
        if kind in PLAIN:
            return value if kind is int or kind is str else (kind, value)
        if kind is tuple or kind is list:
            return kind, tuple([self.of(each) for each in value])
        if isinstance(value, Tensor):
            return self._of_tensor(value)
        if kind is Instance:
            return self._of_instance(value)
        if kind is dict:
            self._hooks(value)
            return "dict", tuple([(name, self.of(each)) for name, each in value.items()])
        if kind is set and all(type(each) is str for each in value):
            return "set", frozenset(value)
        if isinstance(value, (*OF_CODE, Enum, Device)):
            return id(value)
        raise Unlike

    def _of_tensor(self, value: Tensor) -> Hashable:
        known = self._places.get(id(value))
        if known is not None:
            return "again", known
        self._places[id(value)] = len(self._places)
        if self._tensors is not None:
            self._tensors.append(value)
        if value.device is not self._card or value.storage is None or not value.is_contiguous:
            raise Unlike
        if isinstance(value.node, Leaf):
            if not isinstance(value, Parameter):
                raise Unlike
            self.parameters.append(value)
        elif value.node is not None:
            raise Unlike
        learns = value.node is not None
        return type(value), value.shape, value.dtype, value.role, learns, value.is_view

    def _of_instance(self, value: Instance) -> Hashable:
        known = self._places.get(id(value))
        if known is not None:
            return "again", known
        self._places[id(value)] = len(self._places)
        attributes = value.attributes
        if value.native is not None or value.opened is not None:
            raise Unlike
        self._hooks(attributes)
        own = tuple([(name, self.of(each)) for name, each in attributes.items()])
        return value.cls, own, self._of_classes(value.cls.mro)

    def _of_classes(self, classes: Iterable[Class]) -> Hashable:
        """What the program set in the bodies of classes, or later."""
        return tuple(
            [
                (name, self.of(each))
                for cls in classes
                if cls.module.path
                for name, each in cls.names.items()
                if not isinstance(each, OF_CODE) and not name.startswith("__")
            ]
        )

    def _hooks(self, attributes: dict[str, Value]) -> None:
        if attributes.get(PRE_HOOKS) or attributes.get(HOOKS) or attributes.get("inplace"):
            raise Unlike


class Copying:
    """Makes the same on another card: modules and their tensors anew, all else as it is."""

    def __init__(self, card: Device) -> None:
        self._card = card
        self._made: dict[int, Value] = {}
        self.tensors: list[Buffer] = []

    def of(self, value: Value) -> Value:
        """The copy of a value that has a form."""
        kind = type(value)
        if kind is tuple or kind is list:
            return kind([self.of(each) for each in value])
        if kind is dict:
            return {name: self.of(each) for name, each in value.items()}
        if isinstance(value, Tensor):
            return self._known(value) or self._of_tensor(value)
        if is_module(value):
            return self._known(value) or self._of_module(value)
        return value

    def _known(self, value: Value) -> Value:
        return self._made.get(id(value))

    def _of_tensor(self, value: Tensor) -> Tensor:
        kind = Parameter if isinstance(value, Parameter) else Buffer
        made = self._made[id(value)] = kind(self._card, "", value.shape, value.dtype)
        made.role, made.is_view = value.role, value.is_view
        made.node = None if value.node is None else Leaf(made)
        self.tensors.append(made)
        return made

    def _of_module(self, value: Instance) -> Instance:
        made = self._made[id(value)] = Instance(value.cls)
        made.buffers = set(value.buffers)
        for name, each in value.attributes.items():
            made.attributes[name] = self.of(each)
        return made
