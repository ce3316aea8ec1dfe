"""How often ``backward()`` is called for one step of the optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number
from nanolint.trainers.script import unknown_reasons
from nanolint.trainers.script.engines import passes_of_engine
from nanolint.trainers.script.operations import made
from nanolint.trainers.script.things import TERMS, External, Instance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.run.terms import Term
    from nanolint.trainers.script.core import Event, Loop
    from nanolint.trainers.script.things import Thing

# What steps when its caller says so, although it goes backward by itself.
_PASSES_ON = ("Fabric", "Accelerator")
NO_STEP = "no step of an optimizer was found"
ACCUMULATES = "accumulate"  # the block of accelerate in which only every N-th step is one


def share_a_loop(one: Event, other: Event) -> bool:
    """Whether a loop is around both."""
    return any(each in other.context.loops for each in one.context.loops)


def passes_of(backward: Event, events: Sequence[Event], world: int) -> Term | NotKnown:
    """How often ``backward()`` is called for one step of the optimizer."""
    steps = [each for each in events if each.kind == "step" and share_a_loop(backward, each)]
    place = backward.place
    by_engine = passes_of_engine(backward.subject, world, place)
    if by_engine is not None:
        return by_engine
    if not backward.plain and (found := _by_engine(backward)) is not None:
        return found
    if not steps:
        return NotKnown(NO_STEP, place.path, place.line)
    after = [each for each in steps if events.index(each) > events.index(backward)]
    step = after[0] if after else steps[0]
    inner = [each for each in backward.context.loops if each not in step.context.loops]
    if inner:
        return _counted(inner)
    for test in step.context.tests:
        if test in backward.context.tests:
            continue
        period = test[1]
        if isinstance(period, (NotKnown, *TERMS)):
            return period
    return Number(1)


def _counted(loops: Sequence[Loop]) -> Term | NotKnown:
    result: Thing = Number(1)
    for loop in loops:
        if loop.count is None:
            why = unknown_reasons.COUNTS_NOTHING
            return NotKnown(why, loop.place.path, loop.place.line)
        result = loop.count if result == Number(1) else made("*", (result, loop.count), None, 0)
    if isinstance(result, (NotKnown, *TERMS)):
        return result
    return NotKnown(unknown_reasons.COUNTS_ELSE)


def _by_engine(backward: Event) -> Term | NotKnown | None:
    """What ``engine.backward(loss)`` makes of it; None where the script's own loop decides."""
    place = backward.place
    engine = backward.subject
    of = engine.of if isinstance(engine, Instance) else None
    if not isinstance(engine, Instance) or not isinstance(of, External):
        why = "its own configuration decides how often it steps"
        return NotKnown(why, place.path, place.line)
    if of.last not in _PASSES_ON:
        return NotKnown(f"how often {of.name} steps", place.path, place.line)
    if not any(_is_accumulating(each) for each in backward.context.managers):
        return None
    plugin = engine.named.get("gradient_accumulation_plugin")
    steps = plugin or engine.argument(3, "gradient_accumulation_steps") or Number(1)
    if isinstance(steps, (NotKnown, *TERMS)):
        return steps
    return NotKnown(f"how often {of.last} steps", place.path, place.line)


def _is_accumulating(manager: Thing) -> bool:
    of = manager.of if isinstance(manager, Instance) else None
    return isinstance(of, External) and of.last == ACCUMULATES
