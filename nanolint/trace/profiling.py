"""Which micro-batches to trace for a profile, and what the profile then says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.recording.recording import allocated_peak
from nanolint.run.profile import LARGEST_BATCH, represented
from nanolint.trace.fit import MOST_TRACES, fit
from nanolint.trace.guarded import CannotTrace
from nanolint.trainers.script.modules import find_module, imports, roots_of
from nanolint.verdict.search import divisors_down

if TYPE_CHECKING:
    from nanolint.run.run import Run
    from nanolint.trace.fit import Fitted
    from nanolint.trace.survey import Point, Tracer
    from nanolint.trace.traced import Traced

ROOM = 4
LARGEST_CARD = 288 << 30  # bytes; a micro-batch beyond it fits nowhere


def wanted_of(run: Run, trace: Tracer, *, few: bool = False) -> dict[int, tuple[int, ...]]:
    """The micro-batches that a profile is to know, by the number of micro-steps, the run's first.

    With the run's own micro-steps, for nobody may change but the micro-batch, from one sequence to
    what the largest card holds, or to the effective batch if that is less, but not to less than
    ``ROOM`` times the run's own. With others the micro-batches that keep the effective batch, and
    those between them. Where there are to be ``few`` traces, none is made for this alone.
    """
    own, steps = run.batch_size, represented(run.micro_steps)
    first = trace(own, steps)
    if first is None:
        raise CannotTrace(f"it cannot be traced with its own micro-batch, {own}")
    kept_ones = kept_by(run).items() if few else ()
    smaller = [(batch, represented(passes)) for batch, passes in kept_ones if batch < own][:1]
    places = (*smaller, (1, steps), (own // 2, steps), (own + 1, steps))
    others = (trace(batch, passes) for batch, passes in places if batch not in (0, own))
    other = next((point for point in others if point is not None), None)
    most = own * max(run.micro_steps, ROOM)
    high = own if other is None else min(most, _largest(first, other), LARGEST_BATCH)
    high = max(own, high)
    kept: dict[int, list[int]] = {}
    for batch, passes in divisors_down(own, run.micro_steps, high):
        if represented(passes) != steps:
            kept.setdefault(represented(passes), []).append(batch)
    least = other.batch_size if other else own
    bounds = {each: (min(batches), max(batches)) for each, batches in sorted(kept.items())}
    return {steps: (least, own, high), **bounds}


def _largest(first: Point, other: Point) -> int:
    """About the micro-batch that the largest card holds, as allocated bytes grow between two."""
    peaks = [allocated_peak(point.tape) for point in (first, other)]
    growth = (peaks[0] - peaks[1]) / (first.batch_size - other.batch_size)
    if growth <= 0:
        return 2 * max(first.batch_size, other.batch_size)
    return int((LARGEST_CARD - peaks[1]) / growth) + other.batch_size


def record(run: Run, trace: Tracer, most: int = MOST_TRACES) -> Fitted:
    """Trace and fit; raises CannotTrace where not even the run's own micro-batch can be traced."""
    kept = kept_by(run)
    return fit(trace, wanted_of(run, trace, few=most <= 2 * len(kept)), most, kept)


def kept_by(run: Run) -> dict[int, int]:
    """The micro-batches that keep the effective batch, from the run's own downward, then upward;
    and how many make a step.

    A compiled run has many regimes, and these are what --fix asks for.
    """
    own = run.batch_size
    kept = divisors_down(own, run.micro_steps, LARGEST_BATCH)
    ordered = sorted(kept, key=lambda each: (each[0] > own, abs(each[0] - own)))
    return dict(ordered)


def files_of(traced: Traced, root: Path, script: Path) -> list[Path]:
    """The files of the project that the run depends on, all beneath ``root``.

    Those that were imported or read, and those that they name in an import: one may have been stood
    in for, or be imported by a later step only.
    """
    written, real = set(traced.written), root.resolve()
    names = {*traced.modules, *traced.opened} - written
    inside = {path.relative_to(real) for path in map(Path, names) if real in path.parents}
    found = {script, *(root / path for path in inside if (root / path).is_file())}
    roots, waiting = roots_of(script), sorted(found)
    while waiting:
        path = waiting.pop()
        named = (find_module(name, roots, path) for name in imports(path))
        new = {each for each in named if each is not None and root in each.parents} - found
        found |= new
        waiting += sorted(new)
    return sorted(found)
