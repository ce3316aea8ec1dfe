"""NL504: an optimizer steps on the gradients of all steps before, which nothing sets back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.rule import Context, Fact, Findings, FixAvailability, Once, Severity, rule, told
from nanolint_rules.training._lines import found_at, line_beside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.rule import Line

_STEP = re.compile(r"(\w+(?:\.\w+)*)\.step\((\w+(?:\.\w+)*)?\)")


@rule(
    "NL504",
    "gradients-never-zeroed",
    Severity.WARNING,
    needs=[],
    once=Once.MESSAGE,
    fix=FixAvailability.SOMETIMES,
)
def gradients_never_zeroed(context: Context) -> Findings:
    """Nothing sets gradients back, so each step adds to those of all steps before."""
    for each, lines in told(context, Fact.KEPT):
        kept, learning = each.numbers
        name = _optimizer(lines)
        which = "no gradient is ever set back"
        if kept < learning:
            several = f"{kept:,} of {learning:,} gradients are" if kept > 1 else "one gradient is"
            which = f"{several} never set back ({', '.join(each.words)})"
        call = f"{name or 'optimizer'}.zero_grad(set_to_none=True)"
        yield found_at(
            context,
            lines,
            f"{which}: step n trains on the sum of n batches",
            does="steps",
            remedy=f"call {call} after each step" if kept == learning else "set them back, too",
            fix=line_beside(context, lines, call) if name and kept == learning else None,
        )


def _optimizer(lines: Sequence[Line]) -> str | None:
    """How the line that steps calls its optimizer: ``opt.step()``, ``scaler.step(opt)``."""
    called = _STEP.search(lines[0].source) if lines else None
    return called and (called[2] or called[1])
