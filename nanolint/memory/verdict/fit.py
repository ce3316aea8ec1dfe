"""The largest micro-batch of a run that is comfortable on a card, the effective batch kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.memory.verdict.replay import replay
from nanolint.memory.verdict.search import best_micro_batch
from nanolint.memory.verdict.verdict import Outcome, Verdict, judge

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.run.run import Run


@dataclass(frozen=True, slots=True)
class Fit:
    """The run with its micro-batch and accumulation changed. ``is_own``: they are the config's.

    ``reserved_bytes`` is the most that PyTorch reserves on this card.
    """

    run: Run
    verdict: Verdict
    reserved_bytes: int
    is_own: bool

    @property
    def process_bytes(self) -> int:
        """What nvidia-smi would show for the process."""
        return self.reserved_bytes + self.verdict.context_bytes

    @property
    def margin_bytes(self) -> int:
        """What PyTorch could reserve beyond that."""
        return self.verdict.usable_bytes - self.reserved_bytes


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
    return Fit(best, verdict, reserved_on(best, verdict), is_own=best == run)


def reserved_on(run: Run, verdict: Verdict) -> int:
    """The most bytes that ``run`` reserves on the card of its verdict; without limit, if too many.

    Near the limit that is less than on an unlimited card: PyTorch gives cached segments back.
    """
    unlimited = verdict.replay.peak.reserved_bytes
    if not verdict.fits or unlimited <= verdict.limit_bytes:
        return unlimited
    gpu, limit = verdict.target.gpu, verdict.limit_bytes
    limited = replay(run, gpu, limit_bytes=limit, expandable=verdict.target.expandable)
    return limited.peak.reserved_bytes


def _one_sequence(run: Run) -> Run:
    """The same effective batch in micro-batches of one sequence: the search goes up from it."""
    if run.eval_only:
        return replace(run, batch_size=1, eval_iters=run.batch_size * run.eval_iters)
    steps = run.batch_size * run.gradient_accumulation_steps
    return replace(run, batch_size=1, gradient_accumulation_steps=steps)
