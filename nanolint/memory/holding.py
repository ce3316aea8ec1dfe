"""Which line asks for what does not fit, and which one holds most when it does."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from nanolint.memory.lines import STATE, located_run
from nanolint.memory.moments import live_at
from nanolint.memory.recording import recorded
from nanolint.memory.verdict.replay import played

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.gpus.gpu import Gpu
    from nanolint.memory.allocator.play import Refusal
    from nanolint.memory.locating import Line
    from nanolint.memory.tape import Tape
    from nanolint.run.run import Run

LEAST_SHARE = 20  # of what is allocated: a line with less than one in so many holds nothing up


class Holding(NamedTuple):
    """A line and its bytes; ``asks``: it asks for those that fail, else it keeps them."""

    line: Line
    nbytes: int
    asks: bool


def holding(run: Run, gpu: Gpu, limit_bytes: int, *, expandable: bool) -> tuple[Holding, ...]:
    """The line that asks for what ``run`` fails at under a limit, and the one that keeps most.

    Empty where no line of either is known.
    """
    refusal = played(run, gpu, limit_bytes=limit_bytes, expandable=expandable).refusal
    if refusal is None:
        return ()
    return recorded(run, gpu).answer(_holding, refusal, run, gpu)


def _holding(tape: Tape, refusal: Refusal, run: Run, gpu: Gpu) -> tuple[Holding, ...]:
    lines = _lines_of(run, gpu)
    if lines is None:
        return ()
    failing = tape.events[refusal.event]
    found = []
    asking = lines[failing] if tape.components[failing] not in STATE else None
    if asking is not None:
        found.append(Holding(asking, tape.sizes[failing], asks=True))
    kept: Counter[Line | None] = Counter()
    for handle in live_at(tape, failing) - {failing}:
        if tape.components[handle] not in STATE:
            kept[lines[handle]] += tape.sizes[handle]
    most = max(kept.items(), key=lambda each: each[1], default=(None, 0))
    if most[0] is not None and most[1] * LEAST_SHARE >= refusal.allocated_bytes:
        found.append(Holding(most[0], most[1], asks=False))
    return tuple(found)


def _lines_of(run: Run, gpu: Gpu | None) -> Sequence[Line | None] | None:
    """The line of each allocation of a run; None where they are not known."""
    found = located_run(run, gpu)
    return None if isinstance(found, str) else [each and each.stack[0] for each in found.wheres]
