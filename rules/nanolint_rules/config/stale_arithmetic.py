"""NL313: a comment that does the sum of yesterday's values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import (
    Context,
    Finding,
    Findings,
    Fix,
    FixAvailability,
    Need,
    Safety,
    Severity,
    rule,
)
from nanolint_rules._values import knows_its_script
from nanolint_rules.config._sums import stale_products

if TYPE_CHECKING:
    from nanolint_rules.config._arithmetic import Number


@rule(
    "NL313",
    "stale-arithmetic",
    Severity.WARNING,
    needs=[Need.CONFIG, Need.TRAIN_SCRIPT],
    fix=FixAvailability.ALWAYS,
)
def stale_arithmetic(context: Context) -> Findings:
    """A comment multiplies values that are no longer those of the file."""
    if not knows_its_script(context):
        return
    for product in stale_products(context):
        wrong = ", ".join(
            f"{_named(number)} should be {number.written(value)}"
            for number, value in product.corrections
        )
        yield Finding(
            message=f"the comment's arithmetic is out of date: {wrong}",
            span=product.span,
            fix=Fix("Update the comment", Safety.SAFE, product.edits),
        )


def _named(number: Number) -> str:
    return f"{number.text} {number.label}".strip()
