"""What lives at a moment of a tape."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from nanolint.tape.lasting import lasting
from nanolint.tape.tape import Component, Phase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tape.tape import Handle, Tape


def summits(
    tape: Tape, end: int, sizes: Sequence[int] | None = None
) -> dict[Phase, tuple[int, int]]:
    """Per phase the allocated peak in bytes and the number of the event that reached it, until the
    event ``end``; ``sizes`` are the tape's own, or stand in their place."""
    tops: dict[Phase, tuple[int, int]] = {}
    sizes, events, live = tape.sizes if sizes is None else sizes, tape.events, 0
    bounds = [0, *(start for start, _ in tape.phases[1:]), len(events)]  # with what is there first
    for (_, phase), start, stop in zip(tape.phases, bounds, bounds[1:], strict=False):
        peak, summit = tops.get(phase, (0, 0))
        for number, event in enumerate(islice(events, start, min(stop, end)), start):
            if event >= 0:
                live += sizes[event]
                if live > peak:
                    peak, summit = live, number
            else:
                live -= sizes[~event]
        if peak:
            tops[phase] = peak, summit
    return tops or {Phase.EVAL: (0, 0)}


def summit(tape: Tape) -> Handle:
    """The allocation that reaches the peak."""
    tops = summits(tape, len(tape.events))
    _, event = max(tops.values(), key=lambda top: top[0])
    return tape.events[event]


def live_at(tape: Tape, handle: Handle) -> set[Handle]:
    """What lives when an allocation is made, itself among them."""
    live: set[Handle] = set()
    for event in tape.events:
        if event >= 0:
            live.add(event)
            if event == handle:
                break
        else:
            live.discard(~event)
    return live


def last_pass(tape: Tape, before: int) -> tuple[int, int]:
    """The events of the last forward pass that a backward pass follows, not after ``before``.

    Both 0 where there is none.
    """
    found = (0, 0)
    for (start, phase), (end, following) in zip(tape.phases, tape.phases[1:], strict=False):
        if phase is Phase.FORWARD and following is Phase.BACKWARD:
            if end > before and found != (0, 0):
                break
            found = start, end
    return found


@lasting()
def floor_bytes(tape: Tape) -> int:
    """What parameters, their gradients and the optimizer's state take: no run takes less."""
    freed = {~event for event in tape.events if event < 0}
    kept = {Component.PARAMETERS, Component.OPTIMIZER}
    pairs = enumerate(zip(tape.sizes, tape.components, strict=True))
    state = sum(size for at, (size, part) in pairs if part in kept and at not in freed)
    return state + _most_gradients(tape)


def _most_gradients(tape: Tape) -> int:
    """The bytes of gradients that live when the first optimizer step begins."""
    end = next((at for at, phase in tape.phases if phase is Phase.OPTIMIZER), 0)
    live = 0
    for event in tape.events[:end]:
        handle = event if event >= 0 else ~event
        if tape.components[handle] is Component.GRADIENTS:
            live += tape.sizes[handle] if event >= 0 else -tape.sizes[handle]
    return live
