"""NL414: a model whose optimizer step alone is larger than the card."""

from __future__ import annotations

from nanolint.rule import (
    Context,
    Finding,
    Findings,
    FixAvailability,
    Need,
    Severity,
    amount,
    brief,
    headline,
    is_under_floor,
    rule,
    step_floor_bytes,
)
from nanolint_rules.memory._budget import FAMILY, cure, in_float16, spills
from nanolint_rules.memory._places import to_blame


@rule(
    "NL414",
    "optimizer-floor",
    Severity.ERROR,
    needs=[Need.CONFIG, Need.RUN, Need.GPU],
    fix=FixAvailability.NONE,
    family=FAMILY,
)
def optimizer_floor(context: Context) -> Findings:
    """Parameters, gradients and the optimizer step exceed the card: no micro-batch helps."""
    for case in context.cases:
        verdict = case.verdict
        if verdict is None or verdict.oom is None or not is_under_floor(verdict):
            continue
        floor = step_floor_bytes(verdict.run, verdict.target.gpu)
        remedy = cure(context)
        yield Finding(
            message=headline(verdict),
            brief=brief(verdict),
            remedy=remedy.clause,
            span=to_blame(context, remedy),
            gpu=verdict.target.label,
            notes=(
                f"the optimizer step alone takes {amount(floor)}, with any micro-batch",
                *(*spills(verdict), *in_float16(context), *remedy.notes),
            ),
            details=(f"PyTorch would say: {verdict.oom.message}",),
        )
