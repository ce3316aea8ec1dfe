"""The roles of a script's values, by what it does with them; the data type among them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from nanolint.run.described import Described, Role
from nanolint.run.equation import Check, Equation, LateSync, NotKnown, Turn
from nanolint.run.terms import Number, World, leaves
from nanolint.trainers.script import unknown_reasons
from nanolint.trainers.script.built_model import built_model, own_cast, shape_of
from nanolint.trainers.script.core import MOST_STEPS, State
from nanolint.trainers.script.engines import precision_of_engine
from nanolint.trainers.script.fitting import FITTED
from nanolint.trainers.script.follower import Follower
from nanolint.trainers.script.operations import scalar, unwrapped
from nanolint.trainers.script.passes import passes_of, share_a_loop
from nanolint.trainers.script.things import TERMS, External, Instance, Wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from nanolint.run.terms import Given, Term
    from nanolint.trainers.script.core import Around, Context, Event
    from nanolint.trainers.script.modules import Source
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


Condition = TypeVar("Condition", Check, Turn)
_EVALUATES = ("no_grad", "inference_mode")


def read_script(source: Source, roots: tuple[Path, ...], around: Around) -> Described:
    """Follow a script, and say which of its values does what. Never raises.

    The equation is None where a part of it is not known.
    """
    state = State(around, roots)
    Follower(state, source).follow()
    path = source.path
    backward = _backward(state.events)
    if backward is None:
        is_long = state.steps > MOST_STEPS
        why = NotKnown(
            unknown_reasons.TOO_LONG if is_long else "no loop around backward() was reached", path
        )
        roles: dict[Role, Term | NotKnown] = dict.fromkeys(
            (Role.MICRO_BATCH, Role.CONTEXT, Role.ACCUMULATION), why
        )
        given, refused = tuple(state.given), _once(state.refused)
        return Described(
            _named(source), roles, None, given,
            missing=_missing(roles), refused=refused, trains=False,
            saved=tuple(state.saved), wanted=tuple(state.wanted),
        )  # fmt: skip
    call = _call_before(backward, state.events)
    passes = passes_of(backward, state.events, around.world_size)
    micro_batch, context = map(_counted, _batch(call, backward))
    model = unwrapped(call.subject) if call is not None else None
    roles = {
        Role.MICRO_BATCH: micro_batch,
        Role.CONTEXT: context,
        Role.ACCUMULATION: passes,
        **shape_of(model, state),
        Role.DTYPE: dtype_of(call, state),
        Role.COMPILE: _compiled(call),
        Role.EVALUATION: _evaluated(state.events, micro_batch),
    }
    equation = None
    is_open = isinstance(context, NotKnown) and context.reason == unknown_reasons.SAMPLE
    length = Number(0) if is_open else context
    if isinstance(micro_batch, TERMS) and isinstance(length, TERMS) and isinstance(passes, TERMS):
        bare = Equation(
            micro_batch, length, passes, around.world_size, backward.context.loops[-1].place
        )
        equation = replace(
            bare,
            checks=tuple(dict.fromkeys(_about(state.checks, bare.depends_on, processes=True))),
            turns=tuple(dict.fromkeys(_about(state.turns, bare.depends_on))),
        )
    return Described(
        script=_named(source),
        roles=roles,
        equation=None if is_open else equation,
        without_length=equation if is_open else None,
        given=tuple(state.given),
        model=built_model(model),
        missing=_missing(roles),
        late_sync=_late_sync(state.events, call, backward),
        refused=_once(state.refused),
        saved=tuple(state.saved),
        loaded=tuple((place, each) for place, each in state.loaded.items() if each is not None),
        wanted=tuple(state.wanted),
        taken=tuple(state.taken),
        put=tuple(state.put),
    )


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _about(
    conditions: Sequence[Condition], givens: frozenset[Given], *, processes: bool = False
) -> Iterator[Condition]:
    """The conditions that any of ``givens`` decides, or, with ``processes``, their number."""
    for each in conditions:
        decided = leaves(each.condition)
        if any(leaf in givens or (processes and isinstance(leaf, World)) for leaf in decided):
            yield each


def _named(source: Source) -> Path:
    from pathlib import Path

    return source.path or Path(source.name)


def _missing(roles: Mapping[Role, Term | NotKnown]) -> tuple[tuple[Role, NotKnown], ...]:
    return tuple((role, each) for role, each in roles.items() if isinstance(each, NotKnown))


def _counted(found: Term | NotKnown) -> Term | NotKnown:
    """What is true or false counts nothing."""
    is_bool = isinstance(found, TERMS) and isinstance(found.value, bool)
    return NotKnown("it is not a number") if is_bool else found


def _backward(events: Sequence[Event]) -> Event | None:
    """The ``backward()`` of the training loop: one that an optimizer's step follows, if any."""
    found = [each for each in events if each.kind == "backward" and each.context.loops]
    for each in found:
        for other in events[events.index(each) :]:
            if other.kind == "step" and share_a_loop(each, other):
                return each
    return found[-1] if found else None


def _is_evaluation(context: Context) -> bool:
    for manager in context.managers:
        of = manager.of if isinstance(manager, Instance) else manager
        if isinstance(of, External) and of.last in _EVALUATES:
            return True
    return False


def _call_before(backward: Event, events: Sequence[Event]) -> Event | None:
    """The call of the model whose loss is taken backward: the last one before it."""
    before = [
        each
        for each in events[: events.index(backward)]
        if each.kind == "model" and not _is_evaluation(each.context)
    ]
    innermost = backward.context.loops[-1]
    within = [each for each in before if innermost in each.context.loops]
    with_batch = [each for each in within if each.tensors]
    ahead = [each for each in with_batch if not each.behind]
    for found in (ahead, with_batch, within, before):
        if found:
            return found[-1]
    return None


def _batch(call: Event | None, backward: Event) -> tuple[Term | NotKnown, Term | NotKnown]:
    """The sequences and the tokens of each that the model is given."""
    place = (call or backward).place
    if call is None:
        why = NotKnown(unknown_reasons.NO_CALL, place.path, place.line)
        return why, why
    shape = call.tensors[0].shape if call.tensors else None
    if not shape:
        why = NotKnown(unknown_reasons.SHAPE, place.path, place.line)
        return why, why
    if len(shape) == 1 and call.tensors[0].perhaps_more:
        why = NotKnown(unknown_reasons.DIMENSIONS, place.path, place.line)
        return why, why
    first, second = (Number(1), shape[0]) if len(shape) == 1 else shape[:2]
    unknown = NotKnown(unknown_reasons.OF_BATCH, place.path, place.line)
    return _dimension(first, unknown), _dimension(second, unknown)


def _dimension(found: Thing, unknown: NotKnown) -> Term | NotKnown:
    if isinstance(found, NotKnown):
        return found
    is_size = isinstance(found, TERMS) and isinstance(found.value, int) and found.value > 0
    return found if is_size and isinstance(found, TERMS) else unknown


def _compiled(call: Event | None) -> Term | NotKnown:
    if call is None:
        return NotKnown("no call of a model was found")
    subject: Thing = call.subject
    while isinstance(subject, Wrapped):
        if "compile" in subject.by:
            if subject.certain:
                return Number(value=True)
            place = call.place
            return NotKnown("whether the model is compiled", place.path, place.line)
        subject = subject.inner
    if isinstance(subject, NotKnown):
        return subject
    in_place = isinstance(subject, Instance) and "compiled in place" in subject.fields
    return Number(in_place)


def _evaluated(events: Sequence[Event], trained: Thing) -> Term | NotKnown:
    """The largest batch of an evaluation, by the tokens in it; not known where one takes as many
    rows as training, which are not known."""
    largest, most = None, 0
    for each in events:
        if each.kind != "model" or not _is_evaluation(each.context) or not each.tensors:
            continue
        shape = each.tensors[0].shape
        if shape is None or len(shape) < 2:
            continue
        if isinstance(shape[0], NotKnown) and shape[0] == trained:
            return shape[0]
        rows, columns = scalar(shape[0]), scalar(shape[1])
        if isinstance(rows, int) and isinstance(columns, int) and rows * columns > most:
            largest, most = shape[0], rows * columns
    return largest if isinstance(largest, TERMS) else NotKnown("no evaluation's batch was found")


def _late_sync(events: Sequence[Event], call: Event | None, backward: Event) -> LateSync | None:
    """A switch of DDP's averaging between the model's call and ``backward()``."""
    if call is None:
        return None
    between = events[events.index(call) : events.index(backward)]
    for each in between:
        if each.kind == "sync" and backward.context.loops[-1] in each.context.loops:
            return LateSync(each.place, call.place)
    return None
