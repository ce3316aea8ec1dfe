"""Failures that are the program's own: Python raises them as well, whatever else is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from nanolint.run.stop import Cause
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.interpreter.values import Value
    from nanolint.tensors.unknown import Refused

Failure = TypeVar("Failure", bound=BaseException)
_MARK = "_nanolint_certain"
_BLAMED = "_nanolint_blamed"
_OPERANDS = "_nanolint_operands"
_ANYWHERE = "_nanolint_certain_anywhere"
# What tensors have and neither tuples, lists, torch.Size nor what torch.max gives.
OF_TENSORS = frozenset(
    {
        *("backward", "contiguous", "cpu", "cuda", "detach", "device", "dim", "dtype", "float"),
        *("item", "mean", "permute", "reshape", "shape", "size", "squeeze", "to", "transpose"),
        *("unsqueeze", "view", "double", "half", "long", "int", "bool", "bfloat16", "pin_memory"),
        *("argmax", "expand", "flatten", "numpy", "softmax", "sum", "repeat", "requires_grad"),
    }
)


def certain(error: Failure, cause: Cause | None = None, *, anywhere: bool = False) -> Failure:
    """The same, marked with its cause; without one that follows from its class.

    ``anywhere``: it rests on nothing that the machine may have, such as a file.
    """
    if cause is None:
        cause = Cause.NAME
        if isinstance(error, AssertionError):
            cause = Cause.CHECK
        elif isinstance(error, ImportError):
            cause = Cause.IMPORT
    setattr(error, _MARK, cause)
    if anywhere:
        setattr(error, _ANYWHERE, True)
    return error


def is_certain_anywhere(error: BaseException) -> bool:
    """Whether it was marked so."""
    return hasattr(error, _ANYWHERE)


def refusal(error: Refused, operands: Iterable[Value] = ()) -> Exception:
    """The exception that PyTorch raises for these ``operands``."""
    cause = Cause.OPERANDS
    if error.of_graph:
        cause = Cause.GRAPH
    elif error.of_index:
        cause = Cause.INDEX
    found = certain(error.kind(str(error)), cause)
    if error.blamed is not None:
        setattr(found, _BLAMED, error.blamed)
    setattr(found, _OPERANDS, tuple(each for each in operands if isinstance(each, Tensor)))
    return found


def operands_of(error: BaseException) -> tuple[Tensor, ...]:
    """The operands that PyTorch refuses."""
    found: tuple[Tensor, ...] = getattr(error, _OPERANDS, ())
    return found


def blamed_by(error: BaseException) -> object:
    """The place in the program that is to blame, None if that is the one that raises."""
    return getattr(error, _BLAMED, None)


def is_certain(error: BaseException) -> bool:
    """Whether it was marked."""
    return hasattr(error, _MARK)


def cause_of(error: BaseException) -> Cause:
    """Why an exception that is certain ends the run."""
    found = getattr(error, _MARK, Cause.NAME)
    assert isinstance(found, Cause)
    return found


def is_taken_for_tensor(owner: Value, name: str) -> bool:
    """Whether a tuple or a list with tensors is asked for what a tensor has:
    ``model(x).view(-1)``."""
    return (
        (type(owner) is tuple or type(owner) is list)
        and name in OF_TENSORS
        and any(isinstance(each, Tensor) for each in owner)
    )
