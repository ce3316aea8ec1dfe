"""Which line asks for what does not fit, and which one holds most when it does."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from nanolint.recording.recording import recorded
from nanolint.run.program import Profiled
from nanolint.tape.lasting import lasting
from nanolint.tape.located import Located
from nanolint.tape.locating import Line
from nanolint.tape.tape import live_at
from nanolint.verdict.lines import STATE, by_names
from nanolint.verdict.replay import played

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Run
    from nanolint.tape.allocator.play import Refusal
    from nanolint.tape.tape import Tape

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
    if run.program is None:  # whose text nobody has at hand
        return ()
    known = recorded(run, gpu)
    if isinstance(run.program, Profiled):
        return known.answer(_holding_by_names, refusal)
    return known.answer(_holding, refusal)


def _holding_by_names(tape: Tape, refusal: Refusal) -> tuple[Holding, ...]:
    return _holding(by_names(tape), refusal)


@lasting(Holding, Line)
def _holding(tape: Tape, refusal: Refusal) -> tuple[Holding, ...]:
    assert isinstance(tape, Located)
    lines = [where and where.stack[0] for where in tape.wheres]
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
