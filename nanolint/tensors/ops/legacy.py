"""How a loss is reduced, as programs said it before ``reduction`` (torch.nn._reduction)."""

from __future__ import annotations

from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

Loss = TypeVar("Loss", bound="Callable[..., Any]")


def says_reduction(loss: Loss) -> Loss:
    """Let ``size_average`` and ``reduce`` of a loss stand for its ``reduction``."""
    names = list(signature(loss).parameters)

    @wraps(loss)
    def call(*given: Any, **named: Any) -> Any:
        values = dict(zip(names, given, strict=False)) | named
        average, reduces = values.get("size_average"), values.get("reduce")
        if average is None and reduces is None:
            return loss(*given, **named)
        values |= {"size_average": None, "reduce": None}
        values["reduction"] = _reduction(average in (None, True), reduces in (None, True))
        return loss(values.pop(names[0]), values.pop(names[1]), **values)

    return cast("Loss", call)


def _reduction(averages: bool, reduces: bool) -> str:
    if not reduces:
        return "none"
    return "mean" if averages else "sum"
