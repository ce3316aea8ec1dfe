"""The data type that a model is called in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number
from nanolint.trainers.script.architecture import own_cast
from nanolint.trainers.script.operations import scalar, unwrapped
from nanolint.trainers.script.things import External, Instance

if TYPE_CHECKING:
    from nanolint.run.terms import Term
    from nanolint.trainers.script.core import Event, State
    from nanolint.trainers.script.things import Thing


def dtype_of(call: Event | None, state: State) -> Term | NotKnown:
    """The data type of autocast around the model's call, else that of the model itself."""
    if call is None:
        return NotKnown("no call of a model was found")
    unknown = next((each for each in call.context.managers if isinstance(each, NotKnown)), None)
    for manager in reversed(call.context.managers):
        if isinstance(manager, Instance) and _is_autocast(manager.of):
            return _autocast(manager)
    if unknown is not None:
        return unknown
    casts = [each.subject for each in state.events if each.kind == "cast"]
    last: Thing | None = next((each for each in reversed(casts)), None)
    last = last or own_cast(unwrapped(call.subject), state)
    if isinstance(last, NotKnown):
        return last
    name = last.last if isinstance(last, External) else "float32"
    return Number({"half": "float16", "float": "float32"}.get(name, name))


def _is_autocast(of: object) -> bool:
    return isinstance(of, External) and of.last == "autocast"


def _autocast(manager: Instance) -> Term | NotKnown:
    if scalar(manager.named.get("enabled")) is False:
        return Number("float32")
    place = manager.place
    dtype = manager.named.get("dtype")
    if dtype is None:
        dtype = next((each for each in manager.arguments if isinstance(each, External)), None)
    if isinstance(dtype, External):
        return Number({"half": "float16", "float": "float32"}.get(dtype.last, dtype.last))
    if dtype is None and not any(isinstance(each, NotKnown) for each in manager.arguments):
        return Number("float16")  # torch's own default for CUDA
    if isinstance(dtype, NotKnown):
        return dtype
    return NotKnown("the data type of autocast", place.path, place.line)
