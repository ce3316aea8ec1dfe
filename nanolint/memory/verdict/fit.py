"""The largest micro-batch of a run that is comfortable on a card, the effective batch kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
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
    best = single
    if found is not None:
        best = replace(
            single,
            batch_size=found.batch_size,
            gradient_accumulation_steps=found.gradient_accumulation_steps,
            eval_iters=single.eval_iters if found.eval_iters is None else found.eval_iters,
        )
    verdict = judge(best, target)
    if verdict.outcome is not Outcome.COMFORTABLE:
        return None
    return Fit(best, verdict, is_own=best == run)


def _one_sequence(run: Run) -> Run:
    """The same effective batch in micro-batches of one sequence: the search goes up from it."""
    if run.eval_only:
        return replace(run, batch_size=1, eval_iters=run.batch_size * run.eval_iters)
    steps = run.batch_size * run.gradient_accumulation_steps
    return replace(run, batch_size=1, gradient_accumulation_steps=steps)
