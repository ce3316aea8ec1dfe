"""NL101: the run dies of a CUDA out-of-memory error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.verdict.verdict import Outcome
from nanolint.rule import Context, Finding, FixAvailability, Need, Severity, rule
from nanolint_rules.memory._budget import FAMILY, out_of_memory

if TYPE_CHECKING:
    from collections.abc import Iterator


@rule(
    "NL101",
    "predicted-oom",
    Severity.ERROR,
    needs=[Need.CONFIG, Need.RUN, Need.GPU],
    fix=FixAvailability.SOMETIMES,
    family=FAMILY,
)
def predicted_oom(context: Context) -> Iterator[Finding]:
    """The run needs more memory than the target GPU has."""
    return out_of_memory(
        context, lambda outcome, oom: outcome is Outcome.OUT_OF_MEMORY and not oom.logits
    )
