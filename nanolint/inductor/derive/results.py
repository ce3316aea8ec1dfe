"""What a call returned, taken apart into tensors and put together again."""

from __future__ import annotations

from typing import Any

from nanolint.tensors.tensor import Tensor


def flat(found: Any) -> list[Any]:
    """All that it holds, in order."""
    if isinstance(found, (list, tuple)):
        return [each for part in found for each in flat(part)]
    if isinstance(found, dict):
        return [each for part in found.values() for each in flat(part)]
    return [found]


class _Hole:
    """Where a tensor was returned."""


def hollow(found: Any) -> Any:
    """What was returned, with holes in the place of tensors."""
    if isinstance(found, Tensor):
        return _Hole()
    if isinstance(found, (list, tuple)):
        return type(found)(map(hollow, found))
    if isinstance(found, dict):
        return {key: hollow(part) for key, part in found.items()}
    return found


def filled(pattern: Any, results: Any) -> Any:
    """The results in the places where the model returned tensors."""
    if isinstance(pattern, _Hole):
        return next(results)
    if isinstance(pattern, (list, tuple)):
        return type(pattern)(filled(part, results) for part in pattern)
    if isinstance(pattern, dict):
        return {key: filled(part, results) for key, part in pattern.items()}
    return pattern
