"""NL103: it fits, by less than the model can be wrong."""

from __future__ import annotations

from dataclasses import replace

from nanolint.rule import (
    Context,
    Finding,
    Findings,
    FixAvailability,
    Need,
    Outcome,
    Safety,
    Severity,
    format_bytes,
    rule,
)
from nanolint_rules.memory._budget import cure, partner


@rule(
    "NL103",
    "thin-margin",
    Severity.WARNING,
    needs=[Need.CONFIG, Need.RUN, Need.GPU],
    fix=FixAvailability.SOMETIMES,
)
def thin_margin(context: Context) -> Findings:
    """The run fits the target GPU, but only inside the model's own error margin."""
    for case in context.cases:
        verdict = case.verdict
        if verdict is None or case.run is None or verdict.outcome is not Outcome.THIN:
            continue
        remedy = cure(context, comfortably=True)
        spare = verdict.margin_bytes
        room = f"about {format_bytes(spare)}" if spare else "nothing"
        yield Finding(
            message=(
                f"batch_size = {case.run.batch_size} fits {case.gpu_name} with {room} to spare, "
                f"less than the prediction can be wrong; {remedy.clause}"
            ),
            span=context.span("batch_size", partner(context), "block_size"),
            fix=remedy.fix and replace(remedy.fix, safety=Safety.DISPLAY),
            gpu=case.gpu_name,
        )
