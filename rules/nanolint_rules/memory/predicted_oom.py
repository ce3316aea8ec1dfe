"""NL101: the run dies of a CUDA out-of-memory error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import Context, Findings, FixAvailability, Need, Outcome, Severity, rule
from nanolint_rules.memory._budget import FAMILY, out_of_memory

if TYPE_CHECKING:
    from nanolint.rule import OutOfMemory


@rule(
    "NL101",
    "predicted-oom",
    Severity.ERROR,
    needs=[Need.CONFIG, Need.RUN, Need.GPU],
    fix=FixAvailability.SOMETIMES,
    family=FAMILY,
)
def predicted_oom(context: Context) -> Findings:
    """The run needs more memory than the target GPU has."""

    def is_own(outcome: Outcome, oom: OutOfMemory) -> bool:
        """Whether no other rule of the family is there to report it in its own shape."""
        if outcome is Outcome.FRAGMENTED:
            return "NL104" not in context.selected
        return not oom.logits or "NL102" not in context.selected

    return out_of_memory(context, is_own)
