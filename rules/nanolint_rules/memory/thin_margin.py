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
    brief,
    headline,
    rule,
)
from nanolint_rules.memory._budget import cure
from nanolint_rules.memory._places import to_blame


@rule(
    "NL103",
    "thin-margin",
    Severity.WARNING,
    needs=[Need.CONFIG, Need.RUN, Need.GPU],
    fix=FixAvailability.SOMETIMES,
    fits=True,
)
def thin_margin(context: Context) -> Findings:
    """The run barely fits the target GPU: the margin is within the prediction's error."""
    for case in context.cases:
        verdict = case.verdict
        if verdict is None or verdict.outcome is not Outcome.THIN:
            continue
        remedy = cure(context, comfortably=True)
        yield Finding(
            message=headline(verdict),
            brief=brief(verdict),
            remedy=remedy.clause,
            span=to_blame(context, remedy),
            fix=remedy.fix and replace(remedy.fix, safety=Safety.DISPLAY),
            gpu=case.gpu_name,
        )
