"""What lives at a moment of a tape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.recording import summits
from nanolint.memory.tape import Phase

if TYPE_CHECKING:
    from nanolint.memory.tape import Handle, Tape


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
