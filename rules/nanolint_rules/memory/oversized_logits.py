"""NL102: the allocation that fails is one of logits' size, (B*T, V)."""

from __future__ import annotations

from nanolint.rule import Context, Findings, FixAvailability, Need, Outcome, Severity, rule
from nanolint_rules.memory._budget import FAMILY, out_of_memory


@rule(
    "NL102",
    "oversized-logits",
    Severity.ERROR,
    needs=[Need.CONFIG, Need.RUN, Need.GPU],
    fix=FixAvailability.SOMETIMES,
    family=FAMILY,
)
def oversized_logits(context: Context) -> Findings:
    """A buffer of logits, (B*T, V), does not fit the target GPU."""
    return out_of_memory(
        context, lambda outcome, oom: outcome is Outcome.OUT_OF_MEMORY and oom.logits
    )
