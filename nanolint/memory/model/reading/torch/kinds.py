"""Which values are modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.model.reading.values import Instance

if TYPE_CHECKING:
    from nanolint.memory.model.reading.values import Class, Value


def is_module(value: Value) -> bool:
    """Whether a value is a module."""
    return isinstance(value, Instance) and value.cls.is_module


def is_kind_of_module(cls: Class) -> bool:
    """Whether the objects of a class are modules."""
    return cls.is_module
