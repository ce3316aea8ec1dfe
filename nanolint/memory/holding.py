"""Which line asks for what does not fit, and which one holds most when it does."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from nanolint.memory.allocator.play import play
from nanolint.memory.lines import STATE, located_run, shaped
from nanolint.memory.model.reading.values import Unread
from nanolint.memory.moments import equal, live_at
from nanolint.memory.recording import located, recorded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.gpus.gpu import Gpu
    from nanolint.memory.locating import Line
    from nanolint.memory.tape import Tape
    from nanolint.run.program import ReadModel
    from nanolint.run.run import Run

LEAST_SHARE = 20  # of what is allocated: a line with less than one in so many holds nothing up
_SIZES = re.compile(r"\d+")


class Holding(NamedTuple):
    """A line and its bytes; ``asks``: it asks for those that fail, else it keeps them."""

    line: Line
    nbytes: int
    asks: bool


def holding(
    run: Run, gpu: Gpu, source: ReadModel | None, limit_bytes: int, *, expandable: bool
) -> tuple[Holding, ...]:
    """The line that asks for what ``run`` fails at under a limit, and the one that keeps most.

    Empty where no line of either is known.
    """
    known = recorded(run, gpu)
    refusal = known.answer(play, limit_bytes=limit_bytes, expandable=expandable).refusal
    if refusal is None:
        return ()
    tape = known.tape
    lines = _lines_of(run, gpu, source, tape)
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


def _lines_of(
    run: Run, gpu: Gpu, source: ReadModel | None, tape: Tape
) -> Sequence[Line | None] | None:
    """The line of each allocation of a run, which ``tape`` is of; None where they are not known."""
    if run.program is not None:
        found = located_run(run, gpu, source)
        return None if isinstance(found, str) else [each and each.stack[0] for each in found.wheres]
    known = _by_name(run, gpu, source)
    return None if known is None else [known.get(_plain(name)) for name in tape.names]


def _by_name(run: Run, gpu: Gpu, source: ReadModel | None) -> Mapping[str, Line] | None:
    """The line of what nanoGPT's own model makes, by its name: read from a model of one layer.

    Names of several lines are left out. To read all layers takes as long as all else of a check.
    """
    if source is None or not any(name == "n_layer" for name, _ in source.arguments):
        return None
    small = replace(
        run, n_layer=1, batch_size=1, gradient_accumulation_steps=1, simulated_gpus=1,
        max_iters=0, eval_iters=1, eval_interval=0,
    )  # fmt: skip
    own = recorded(small, gpu).tape
    try:
        read = located(small, gpu, shaped(source, small)).tape
    except Unread:
        return None
    if not equal(own, read):
        return None
    lines: dict[str, set[Line]] = {}
    for name, where in zip(own.names, read.wheres, strict=True):
        if where is not None:
            lines.setdefault(_plain(name), set()).add(where.stack[0])
    return {name: next(iter(each)) for name, each in lines.items() if len(each) == 1}


def _plain(name: str) -> str:
    """A name whatever the sizes are that stand in it."""
    return _SIZES.sub("#", name)
