"""The data type that a model is called in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number
from nanolint.trainers.script.architecture import own_cast
from nanolint.trainers.script.engines import precision_of_engine
from nanolint.trainers.script.fitting import FITTED
from nanolint.trainers.script.operations import scalar, unwrapped
from nanolint.trainers.script.things import External, Instance

if TYPE_CHECKING:
    from nanolint.run.terms import Term
    from nanolint.trainers.script.core import Event, State
    from nanolint.trainers.script.things import Thing

# accelerate/accelerator.py: what its launcher sets, and its words for what autocast runs in.
PRECISION_VARIABLE = "ACCELERATE_MIXED_PRECISION"
_PRECISIONS = {"no": "float32", "bf16": "bfloat16", "fp16": "float16"}


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
    by_engine = _by_engine(state)
    if by_engine is not None:
        return by_engine
    subject = unwrapped(call.subject)
    if isinstance(subject, NotKnown) or (
        isinstance(subject, Instance) and subject.of == External(FITTED)
    ):
        return NotKnown("a library decides it", call.place.path, call.place.line)
    casts = [each.subject for each in state.events if each.kind == "cast"]
    last: Thing | None = next((each for each in reversed(casts)), None)
    last = last or own_cast(unwrapped(call.subject), state)
    if isinstance(last, NotKnown):
        return last
    name = last.last if isinstance(last, External) else "float32"
    return Number({"half": "float16", "float": "float32"}.get(name, name))


def _by_engine(state: State) -> Term | NotKnown | None:
    """What accelerate or DeepSpeed runs its model in; None where neither goes backward."""
    subjects = (each.subject for each in state.events if each.kind == "backward")
    for engine in subjects:
        by_deepspeed = precision_of_engine(engine)
        if by_deepspeed is not None:
            return by_deepspeed
        of = engine.of if isinstance(engine, Instance) else None
        if not isinstance(engine, Instance) or not isinstance(of, External):
            continue
        if of.last == "Accelerator":
            return _precision(engine.argument(2, "mixed_precision"), engine, state)
    return None


def _precision(given: Thing | None, engine: Instance, state: State) -> Term | NotKnown:
    if isinstance(given, NotKnown):
        return given
    asked = scalar(given)
    if asked is None:
        word = state.around.variable(PRECISION_VARIABLE)
        if word is not None and isinstance(word.value, NotKnown):
            return word.value
        asked = "no" if word is None else word.value  # type: ignore[assignment]
    found = _PRECISIONS.get(str(asked))
    place = engine.place
    return Number(found) if found else NotKnown(f"precision {asked}", place.path, place.line)


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
