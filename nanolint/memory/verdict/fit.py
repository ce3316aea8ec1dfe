"""The largest micro-batch of a run that is comfortable on a card, the effective batch kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.memory.verdict.changes import micro_batch, partner
from nanolint.memory.verdict.search import best_micro_batch
from nanolint.memory.verdict.verdict import Outcome, Verdict, judge

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.run.run import Run


@dataclass(frozen=True, slots=True)
class Fit:
    """The run with its micro-batch and accumulation changed. ``is_own``: they are the config's."""

    run: Run
    verdict: Verdict
    is_own: bool


def best_fit(run: Run, target: Machine) -> Fit | None:
    """The largest comfortable micro-batch, larger than the config's own or smaller; None if none.

    With eval_only the number of sequences in an evaluation is kept.
    """
    single = _one_sequence(run)
    found = best_micro_batch([(single, target)], upward=True)
    best = single if found is None else found.applied(single)
    verdict = judge(best, target)
    if verdict.outcome is not Outcome.COMFORTABLE:
        return None
    return Fit(best, verdict, is_own=best == run)


def _one_sequence(run: Run) -> Run:
    """The same effective batch in micro-batches of one sequence: the search goes up from it."""
    others: int = getattr(run, partner(run))
    return micro_batch(run, 1, run.batch_size * others).applied(run)
