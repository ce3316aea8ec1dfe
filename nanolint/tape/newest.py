"""Dictionaries that hold the newest of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

Key = TypeVar("Key", bound="Hashable")
Value = TypeVar("Value")


def hold_newest(known: dict[Key, Value], key: Key, value: Value, most: int) -> None:
    """Put a value last, and forget the first ones above ``most``; another thread may do so, too."""
    known.pop(key, None)
    known[key] = value
    for each in [*known][:-most]:
        known.pop(each, None)
