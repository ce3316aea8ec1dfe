"""Failures that are the program's own: Python raises them as well, whatever else is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value

Failure = TypeVar("Failure", bound=BaseException)
_MARK = "_nanolint_certain"
# What tensors have and neither tuples, torch.Size nor what torch.max gives.
OF_TENSORS = frozenset(
    {
        *("backward", "contiguous", "cpu", "cuda", "detach", "device", "dim", "dtype", "float"),
        *("item", "mean", "permute", "reshape", "shape", "size", "squeeze", "to", "transpose"),
        *("unsqueeze", "view"),
    }
)


def certain(error: Failure) -> Failure:
    """The same, marked."""
    setattr(error, _MARK, True)
    return error


def is_certain(error: BaseException) -> bool:
    """Whether it was marked."""
    return hasattr(error, _MARK)


def is_own_tuple(value: Value) -> bool:
    """Whether the program made the tuple: one of numbers alone may be the shape of a tensor, which
    is only as sure as all that was read before."""
    return type(value) is tuple and not all(isinstance(each, int) for each in value)


def is_taken_for_tensor(owner: Value, name: str) -> bool:
    """Whether a tuple with tensors is asked for what a tensor has: ``model(x).view(-1)``."""
    return (
        type(owner) is tuple
        and name in OF_TENSORS
        and any(isinstance(each, Tensor) for each in owner)
    )
