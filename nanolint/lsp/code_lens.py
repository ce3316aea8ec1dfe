"""Code lens: above the file, each target card with the run's peak, margin and batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.lsp.load import TROUBLE, load_of
from nanolint.run.trust import in_short
from nanolint.trainers.nanogpt.kind import FileKind
from nanolint.verdict.words import margin

if TYPE_CHECKING:
    from nanolint.rule.case import Case
    from nanolint.rule.context import Context
    from nanolint.run.run import Run


def code_lenses(context: Context) -> tuple[str, ...]:
    """A line for each target, to stand above the first line of the file."""
    if context.kind is FileKind.SCRIPT:
        return ()
    return tuple(_describe(case) for case in context.cases)


def _describe(case: Case) -> str:
    card = case.gpu_name if case.target else "no target GPU: choose one"
    run = case.run
    if run is None:
        return f"{card} | {case.resolution.why_unknown}"
    doubts = case.resolution.doubts
    doubt = [f"not certain: {in_short(doubts)}"] if doubts else []
    return " | ".join([card, *_memory(case, run), *_batch(run), *doubt])


def _memory(case: Case, run: Run) -> tuple[str, ...]:
    if not run.on_gpu:
        return (f"device = {run.device!r}: no GPU memory",)
    load = load_of(case)
    if load is None:
        return ()
    trouble = TROUBLE.get(load.verdict.outcome)
    half = " in float16" if case.resolution.in_float16 else ""
    room = margin(load.verdict)
    return f"peak {load.amount}{half}", f"{trouble}, {room}" if trouble else room


def _batch(run: Run) -> tuple[str, ...]:
    if run.eval_only:
        return (f"{run.batch_size * run.eval_iters:,} sequences evaluated per split",)
    batch = f"effective batch {run.effective_batch_size:,}"
    return (batch, f"{run.tokens_per_iter:,} tokens per iteration") if run.block_size else (batch,)
