"""Where a text sets its micro-batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanolint.diagnostics import Span
    from nanolint.rule.context import Context

KEY = "batch_size"


def micro_batch_span(context: Context) -> Span | None:
    """The value that the text of ``context`` gives its micro-batch; None where it gives none."""
    described = context.settings.described
    if described is None:
        assignment = context.assignment(KEY)
        return None if assignment is None else assignment.value_span
    factor = described.equation.factor if described.equation is not None else None
    if factor is None or factor.place.path != context.path:
        return None
    return factor.place.span
