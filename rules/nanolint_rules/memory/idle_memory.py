"""NL105: a micro-batch at least twice as large would fit."""

from __future__ import annotations

from nanolint.rule import (
    Context,
    Finding,
    Findings,
    FixAvailability,
    Need,
    Severity,
    best_micro_batch,
    rule,
)
from nanolint_rules.memory._budget import cure
from nanolint_rules.memory._places import partner


@rule(
    "NL105",
    "idle-memory",
    Severity.INFO,
    needs=[Need.CONFIG, Need.RUN, Need.GPU],
    fix=FixAvailability.SOMETIMES,
    default=False,
    fits=True,
)
def idle_memory(context: Context) -> Findings:
    """A micro-batch at least twice as large fits every target GPU."""
    pairs = [(case.run, case.target) for case in context.cases if case.run and case.target]
    run = context.run
    if run is None or not run.on_gpu or len(pairs) != len(context.cases):
        return
    larger = best_micro_batch(pairs, upward=True)
    if larger is None or larger.counts["batch_size"] < 2 * run.batch_size:
        return
    remedy = cure(context, upward=True)
    yield Finding(
        message=f"batch_size = {run.batch_size} leaves memory idle: {remedy.clause}",
        span=context.span("batch_size", partner(context)),
        fix=remedy.fix,
        gpu=", ".join(case.gpu_name for case in context.cases),
        notes=remedy.notes,
    )
