"""Which values are modules, and what modules hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.values import Instance
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.interpreter.values import Class, Value


def is_module(value: Value) -> bool:
    """Whether a value is a module."""
    return isinstance(value, Instance) and value.cls.is_module


def is_kind_of_module(cls: Class) -> bool:
    """Whether the objects of a class are modules."""
    return cls.is_module


def held_by_modules(values: Iterable[Value]) -> Iterator[Tensor]:
    """All tensors that are found on those of some values that are modules: parameters, buffers,
    and what is kept in their lists and other objects."""
    unseen: list[Value] = [each for each in values if is_module(each)]
    seen = set(map(id, unseen))
    for each in unseen:  # which grows
        inside: Iterable[Value] = ()
        if isinstance(each, Tensor):
            yield each
        elif isinstance(each, Instance):
            inside = each.attributes.values()
        elif isinstance(each, dict):
            inside = each.values()
        elif isinstance(each, (list, tuple)):
            inside = each
        for one in inside:
            if id(one) not in seen:
                seen.add(id(one))
                unseen.append(one)
