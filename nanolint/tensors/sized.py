"""Functions of sizes that cache their results.

Two readings must not share that if one has symbolic integers: equal to plain ones, they would be
taken for these.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

Given = ParamSpec("Given")
Found = TypeVar("Found")

_FORGET: list[Callable[[], None]] = []


def of_sizes(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """The function, which remembers."""
    remembering = lru_cache(maxsize=65536)(function)
    _FORGET.append(remembering.cache_clear)
    return cast("Callable[Given, Found]", remembering)


def forget_sizes() -> None:
    """All of them begin anew."""
    for forget in _FORGET:
        forget()
