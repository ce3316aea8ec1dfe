"""Which micro-batches to trace for a profile, and what the profile then says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.memory.recording import allocated_peak
from nanolint.memory.verdict.search import divisors_down
from nanolint.run.profile import LARGEST_BATCH, digest, represented
from nanolint.trace.fit import MOST_TRACES, Fitted, fit
from nanolint.trace.process import CannotTrace

if TYPE_CHECKING:
    from nanolint.run.run import Run
    from nanolint.trace.fit import Point, Tracer
    from nanolint.trace.traced import Traced

LARGEST_CARD = 288 << 30  # bytes; a micro-batch beyond it fits nowhere


@dataclass(frozen=True, slots=True)
class Range:
    """The micro-batches and numbers of micro-steps that a profile is made for."""

    batches: tuple[int, ...]
    micro_steps: tuple[int, ...]


def range_of(run: Run, trace: Tracer) -> Range:
    """From one sequence to what the largest card holds, or the effective batch if that is less.

    ``micro_steps`` are the run's own and those of all micro-batches that keep the effective batch.
    """
    own, steps = run.batch_size, represented(run.micro_steps)
    sequences = own * run.micro_steps
    first = trace(own, steps)
    if first is None:
        raise CannotTrace(f"it cannot be traced with its own micro-batch, {own}")
    others = (trace(batch, steps) for batch in (1, own // 2, own + 1) if batch not in (0, own))
    other = next((point for point in others if point is not None), None)
    high = own if other is None else min(sequences, _largest(first, other))
    high = max(own, min(high, LARGEST_BATCH))
    batches = (*((other.batch_size,) if other else ()), own, high)
    kept = {
        represented(others) for batch, others in divisors_down(own, run.micro_steps, high)
    }  # fmt: skip
    return Range(batches, (steps, *sorted(kept - {steps})))


def _largest(first: Point, other: Point) -> int:
    """About the micro-batch that the largest card holds, as allocated bytes grow between two."""
    peaks = [allocated_peak(point.tape) for point in (first, other)]
    growth = (peaks[0] - peaks[1]) / (first.batch_size - other.batch_size)
    if growth <= 0:
        return 2 * max(first.batch_size, other.batch_size)
    return int((LARGEST_CARD - peaks[1]) / growth) + other.batch_size


def record(run: Run, trace: Tracer, most: int = MOST_TRACES) -> Fitted:
    """Trace and fit; raises CannotTrace where not even the run's own micro-batch can be traced."""
    wanted = range_of(run, trace)
    return fit(trace, wanted.batches, wanted.micro_steps, most)


def files_of(traced: Traced, root: Path, script: Path, configs: frozenset[Path]) -> dict[str, str]:
    """Digests of the project's files that the run depends on, by their names from its root on.

    Not of ``configs``: what they say is among the settings.
    """
    paths = {script, *map(Path, (*traced.modules, *traced.opened))}
    written = set(traced.written)
    found = {}
    for path in sorted(paths - configs):
        if root in path.parents and str(path) not in written and path.is_file():
            found[path.relative_to(root).as_posix()] = digest(path.read_bytes())
    return found
