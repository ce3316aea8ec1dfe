"""NL005: a run that fits, as far as is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import (
    Context,
    Finding,
    Findings,
    Need,
    Once,
    Outcome,
    Severity,
    in_short,
    ordered,
    probably,
    rule,
    way_out,
)
from nanolint_rules._given import place_of

if TYPE_CHECKING:
    from nanolint.rule import Case, Span


@rule(
    "NL005",
    "doubted-run",
    Severity.WARNING,
    needs=[Need.CONFIG, Need.RUN, Need.GPU],
    once=Once.RULE,
    fits=True,
)
def doubted_run(context: Context) -> Findings:
    """The run probably fits the target GPU, but its number rests on something unknown."""
    doubted = [case for case in context.cases if case.resolution.doubts and _fits(case)]
    if not doubted:
        return
    doubts = ordered(doubt for case in doubted for doubt in case.resolution.doubts)
    verdicts = [case.verdict for case in doubted if case.verdict is not None]
    yield Finding(
        message=f"{probably(verdicts)}, not certain: {in_short(doubts)}",
        remedy=way_out(doubts, context.trace),
        span=_micro_batch(context) or context.span("batch_size", "block_size"),
        gpu=", ".join(case.gpu_name for case in doubted),
        notes=tuple(f"not certain: {doubt}" for doubt in doubts[1:]),
    )


def _micro_batch(context: Context) -> Span | None:
    """Where a script gives it that is not of nanoGPT's kind."""
    equation = context.settings.equation
    return None if equation is None else place_of(context, equation, equation.loop)


def _fits(case: Case) -> bool:
    """Whether nothing else is reported of the run: no error, and no thin margin."""
    return case.verdict is not None and case.verdict.outcome is Outcome.COMFORTABLE
