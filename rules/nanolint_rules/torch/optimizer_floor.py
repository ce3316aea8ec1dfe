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
    rule,
    step_floor_bytes,
)
from nanolint_rules.memory._budget import FAMILY, cure, in_float16, is_under_floor, spills
from nanolint_rules.memory._places import to_blame

NONE = "no micro-batch fits; "  # which the headline says already


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
        label = verdict.target.label
        remedy = cure(context)
        yield Finding(
            message=(
                f"does not fit {label} at any micro-batch: the optimizer step alone takes "
                f"{amount(floor)} of {amount(verdict.usable_bytes)}"
            ),
            remedy=remedy.clause.removeprefix(NONE),
            span=to_blame(context, remedy),
            gpu=label,
            notes=(*spills(verdict), *in_float16(context), *remedy.notes),
        )
