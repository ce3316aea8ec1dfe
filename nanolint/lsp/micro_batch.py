"""Where a text sets its micro-batch, and what is likely to be typed there next."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.diagnostics import Span
    from nanolint.rule.context import Context

KEY = "batch_size"
MOST = 128  # micro-batches that are likely, beside powers of two
POWERS = range(10)


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


def likely_texts(context: Context) -> Iterator[str]:
    """The text of ``context`` with each other micro-batch that is likely, the likeliest first."""
    text, span = context.text, micro_batch_span(context)
    number = "" if span is None else text[span.start : span.end]
    if span is None or not number.isdecimal():
        return
    for value in likely_values(int(number)):
        yield f"{text[: span.start]}{value}{text[span.end :]}"


def likely_values(value: int) -> list[int]:
    """What one keystroke makes of a number, then powers of two, then all others of some size."""
    typed = [value // 10, *range(10 * value, 10 * value + 10), *range(1, 10)]
    powers = [2**power for power in POWERS]
    others = sorted(range(1, MOST + 1), key=lambda other: abs(other - value))
    small = (each for each in typed if each <= MOST)
    return [each for each in dict.fromkeys([*small, *powers, *others]) if each not in (0, value)]
