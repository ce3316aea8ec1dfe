"""NL102: the allocation that fails is one of logits' size, (B*T, V)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.verdict.verdict import Outcome
from nanolint.rule import Context, Finding, FixAvailability, Need, Severity, rule
from nanolint_rules.memory._budget import FAMILY, out_of_memory

if TYPE_CHECKING:
    from collections.abc import Iterator


@rule(
    "NL102",
    "oversized-logits",
    Severity.ERROR,
    needs=[Need.CONFIG, Need.RUN, Need.GPU],
    fix=FixAvailability.SOMETIMES,
    family=FAMILY,
)
def oversized_logits(context: Context) -> Iterator[Finding]:
    """A buffer of logits, (B*T, V), does not fit the target GPU."""
    return out_of_memory(
        context, lambda outcome, oom: outcome is Outcome.OUT_OF_MEMORY and oom.logits
    )
