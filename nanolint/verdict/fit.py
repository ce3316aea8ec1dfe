"""The largest micro-batch of a run that is comfortable on a card, the effective batch kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.verdict.changes import micro_batch, partner
from nanolint.verdict.search import best_micro_batch, divisors_down
from nanolint.verdict.verdict import Outcome, Verdict, judge

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
    single = smallest(run)
    if single is None:
        return None
    found = best_micro_batch([(single, target)], upward=True, like=run if run.is_known else single)
    best = single if found is None else found.applied(single)
    verdict = judge(best, target)
    if verdict.outcome is not Outcome.COMFORTABLE:
        return None
    return Fit(best, verdict, is_own=best == run)


def smallest(run: Run) -> Run | None:
    """The same effective batch in micro-batches of one sequence: the search goes up from it.

    Of the smallest that is known, where a profile does not know that; None where it knows none.
    """
    others: int = getattr(run, partner(run))
    single = micro_batch(run, 1, run.batch_size * others).applied(run)
    if single.is_known:
        return single
    pairs = divisors_down(run.batch_size, others, run.batch_size * others)
    runs = [micro_batch(run, *pair).applied(run) for pair in pairs]
    return next((each for each in reversed(runs) if each.is_known), None)
