"""What each line of a model keeps for the backward pass, what it has at the peak, and which lines
are to blame for what does not fit.

Lines are those of what is read, and of what was traced.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from nanolint.frozen import dataclass
from nanolint.interpreter.values import Unread
from nanolint.recording.recording import located, recorded
from nanolint.regex import lazily
from nanolint.run.program import Profiled
from nanolint.tape.lasting import lasting
from nanolint.tape.located import Located
from nanolint.tape.locating import OUTSIDE, Line, Where
from nanolint.tape.tape import Component, Phase, last_pass, live_at, summit
from nanolint.verdict.replay import played
from nanolint.verdict.waste import Waste, wastes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Run
    from nanolint.tape.allocator.play import Refusal
    from nanolint.tape.tape import Handle, Tape

# What is there whatever a line does: a line makes gradients of parameters, but cannot help it.
STATE = frozenset({Component.PARAMETERS, Component.GRADIENTS, Component.OPTIMIZER})

TRACED = lazily(r"(?P<path>.+?\.py):(?P<line>\d+) ")  # what a traced allocation is called


class Kept(NamedTuple):
    """Tensors of one name and size that a line makes."""

    name: str
    nbytes: int
    times: int


@dataclass(frozen=True, slots=True)
class Share:
    """What a place makes, with all that called it there. Of ``calls`` each made its part."""

    stack: tuple[Line, ...]
    kept_bytes: int
    peak_bytes: int
    calls: int


@dataclass(frozen=True, slots=True)
class LineMemory:
    """What one line makes in one forward-backward pass, over all ``calls`` of its function.

    ``kept_bytes`` are there when the backward pass begins, ``peak_bytes`` at the run's peak.
    """

    line: Line
    kept_bytes: int
    peak_bytes: int
    calls: int
    tensors: tuple[Kept, ...]  # that it keeps, or has at the peak where it keeps none
    waste: tuple[Waste, ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """The memory of one run by lines, the largest at the peak first.

    ``elsewhere`` is what is there at the peak and of no line, by what it is for. ``kept_elsewhere``
    is what is kept and of no line: what a compiled graph makes by itself.
    """

    lines: tuple[LineMemory, ...]
    shares: tuple[Share, ...]
    elsewhere: tuple[tuple[Component, int], ...]
    kept_elsewhere: int
    peak_bytes: int
    phase: Phase

    @property
    def kept_bytes(self) -> int:
        """All that is kept for the backward pass."""
        return sum(each.kept_bytes for each in self.lines) + self.kept_elsewhere


NO_TEXT = "nanolint found no training script; the run is checked with nanoGPT's own"


def lines_of(run: Run, gpu: Gpu | None = None) -> Lines | str:
    """The lines of a run, or why there are none."""
    found = located_run(run, gpu)
    return found if isinstance(found, str) else _summed(found, summit(found), run.block_size)


def located_run(run: Run, gpu: Gpu | None) -> Located | str:
    """The tape of ``run`` with its lines, or why there is none."""
    if isinstance(run.program, Profiled):
        return recorded(run, gpu).answer(by_names)
    if run.program is None:
        return NO_TEXT
    try:
        return located(run, gpu).tape
    except Unread as error:
        return f"nanolint cannot read the model: {error}"


def by_names(tape: Tape) -> Located:
    """A tape whose names begin with lines, as traced ones do."""
    found = Located()
    found.events, found.phases = tape.events, tape.phases
    found.sizes, found.names, found.components = tape.sizes, tape.names, tape.components
    places = {name: TRACED.match(name) for name in set(tape.names)}
    for name in tape.names:
        place = places[name]
        where = Where((Line(place["path"], int(place["line"])),), OUTSIDE) if place else None
        found.wheres.append(where)
    return found


def _summed(tape: Located, top: Handle, context: int) -> Lines:
    """The lines of a tape whose peak is reached by ``top``."""
    at = tape.events.index(top)
    start, end = last_pass(tape, at)
    made = [event for event in tape.events[start:end] if event >= 0]
    freed = {~event for event in tape.events[start:end] if event < 0}
    kept = [handle for handle in made if handle not in freed]
    live = live_at(tape, top)
    kept_by, peak_by = _by_place(tape, kept), _by_place(tape, live)
    calls = _calls(peak_by) | _calls(_by_place(tape, made))
    lines = {where.stack[0] for where in (*kept_by, *peak_by) if where is not None}
    found = wastes(tape, start, end, context)
    each_line = [
        _line(tape, line, kept_by, peak_by, calls[line], found.get(line, ())) for line in lines
    ]
    each_line.sort(key=lambda each: (-each.peak_bytes, -each.kept_bytes, each.line))
    total = sum(tape.sizes[handle] for handle in live)
    return Lines(
        lines=tuple(each_line),
        shares=tuple(_shares(tape, kept_by, peak_by)),
        elsewhere=_elsewhere(tape, peak_by.get(None, ())),
        kept_elsewhere=sum(tape.sizes[handle] for handle in kept_by.get(None, ())),
        peak_bytes=total,
        phase=tape.phase_at(at),
    )


def _calls(places: Iterable[Where | None]) -> dict[Line, int]:
    """How many calls of its function each line runs in; 0 where that is not known."""
    found: dict[Line, set[int]] = {}
    for where in places:
        if where is not None:
            found.setdefault(where.stack[0], set()).add(where.call)
    return {line: len(calls - {OUTSIDE}) for line, calls in found.items()}


def _by_place(tape: Located, handles: Iterable[Handle]) -> dict[Where | None, list[Handle]]:
    """Allocations by their places; None for those of no line."""
    found: dict[Where | None, list[Handle]] = {}
    for handle in handles:
        where = None if tape.components[handle] in STATE else tape.wheres[handle]
        found.setdefault(where, []).append(handle)
    return found


def _line(
    tape: Located,
    line: Line,
    kept_by: dict[Where | None, list[Handle]],
    peak_by: dict[Where | None, list[Handle]],
    calls: int,
    waste: tuple[Waste, ...],
) -> LineMemory:
    kept, peak = (
        [
            handle
            for where, group in by.items()
            if where and where.stack[0] == line
            for handle in group
        ]
        for by in (kept_by, peak_by)
    )
    counted = Counter((tape.names[each], tape.sizes[each]) for each in kept or peak)
    tensors = [Kept(name, nbytes, times) for (name, nbytes), times in counted.items()]
    tensors.sort(key=lambda each: -each.nbytes * each.times)
    return LineMemory(
        line=line,
        kept_bytes=sum(tape.sizes[each] for each in kept),
        peak_bytes=sum(tape.sizes[each] for each in peak),
        calls=calls,
        tensors=tuple(tensors),
        waste=waste,
    )


def _shares(
    tape: Located,
    kept_by: dict[Where | None, list[Handle]],
    peak_by: dict[Where | None, list[Handle]],
) -> Iterable[Share]:
    sums: dict[tuple[Line, ...], list[int]] = {}
    calls: dict[tuple[Line, ...], set[int]] = {}
    for place, by in enumerate((kept_by, peak_by)):
        for where, group in by.items():
            if where is not None:
                found = sums.setdefault(where.stack, [0, 0])
                found[place] += sum(tape.sizes[each] for each in group)
                calls.setdefault(where.stack, set()).add(where.call)
    for stack, (kept, peak) in sums.items():
        yield Share(stack, kept, peak, len(calls[stack] - {OUTSIDE}))


def _elsewhere(tape: Located, handles: Iterable[Handle]) -> tuple[tuple[Component, int], ...]:
    total: Counter[Component] = Counter()
    for handle in handles:
        total[tape.components[handle]] += tape.sizes[handle]
    return tuple(total.most_common())


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
