"""What is likely to be typed next: another number where one decides how much memory is taken, one
that decides nothing, the other of two truth values, and a model without dropout, or with it."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from nanolint.lsp.micro_batch import micro_batch_span
from nanolint.memory.numbers import COUNTS as COUNTED
from nanolint.source.values import Known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from nanolint.diagnostics import Span
    from nanolint.rule.context import Context
    from nanolint.source.assignments import Assignment

COUNTS = "what counts"  # steps, and when something is done; hardly ever does memory follow it
TRUTHS, RATES, FRACTIONS = "truth values", "dropout", "fractions"
MICRO_BATCH, OTHERS = "the micro-batch", "other micro-batches"
PASSES, SIZE = "gradient_accumulation_steps", "block_size"  # what people change beside it
OTHER = {"True": "False", "False": "True"}
DROPOUT = re.compile(r"dropout", re.IGNORECASE)
FRACTION = re.compile(r"(\d+)(\.\d*(e-?\d+)?|e-?\d+)", re.IGNORECASE)
NONE, USUAL = "0.0", ("0.1", "0.2")  # of what is dropped: without any, other graphs are compiled
FEW = 4  # passes that are read one by one; who has more allocates as for 5 or 6
DIGITS = (5, 1, 2, 4, 3, 6, 7, 8, 9)  # of passes, those first that take a reading
MOST = 128  # micro-batches that are likely, beside powers of two
POWERS = range(10)


def likely_texts(context: Context, typed: int | None = None) -> dict[str, Iterator[str]]:
    """The texts that are likely, by what is another thing in them. First where somebody typed last,
    which goes on there, then what takes few readings."""
    found = {COUNTS: _counts(context)}
    batch, passes, size = micro_batch_span(context), _span(context, PASSES), _span(context, SIZE)
    batches = _numbers(context.text, batch, micro_batches)
    for each in context.module.assignments:
        span = each.value_span
        if typed is not None and span.start <= typed <= span.end and span != passes:
            if span == batch:
                found[MICRO_BATCH] = batches
            else:
                found[each.key] = _numbers(context.text, span, sizes)
    found[PASSES] = (_with(context.text, (passes, value)) for value in DIGITS if passes)
    found[TRUTHS] = _truths(context)
    found[RATES] = _rates(context)
    for each in _counting(context):
        found.setdefault(each.key, _numbers(context.text, each.value_span, small))
    found.setdefault(MICRO_BATCH, batches)
    found.setdefault(SIZE, _numbers(context.text, size, sizes))
    found[FRACTIONS] = _fractions(context)
    found[OTHERS] = _numbers(context.text, batch, other_micro_batches)
    return found


def _span(context: Context, key: str) -> Span | None:
    assignment = context.assignment(key)
    return None if assignment is None else assignment.value_span


def _counting(context: Context) -> list[Assignment]:
    return [
        each
        for each in context.module.assignments
        if COUNTED.search(each.key)
        and each.key != PASSES
        and _written(context.text, each.value_span).isdecimal()
    ]


def _counts(context: Context) -> Iterator[str]:
    """Twice all whole numbers that count, and the passes where they are many: that shows of a
    reading that it follows each of them. Then what is left of each while it is taken away, most of
    which follows from that."""
    spans = [each.value_span for each in _counting(context)]
    twice: list[tuple[Span, object]] = [
        (span, 2 * int(_written(context.text, span))) for span in spans
    ]
    passes = context.assignment(PASSES)
    many = passes.value.value if passes and isinstance(passes.value, Known) else None
    if passes and type(many) is int and many > FEW:
        twice.append((passes.value_span, 2 * many))
    if twice:
        yield _with(context.text, *twice)
    for span in spans:
        yield from _numbers(context.text, span, taken_away)


def _truths(context: Context) -> Iterator[str]:
    for each in context.module.assignments:
        if each.expression in OTHER:
            yield _with(context.text, (each.value_span, OTHER[each.expression]))


def _rates(context: Context) -> Iterator[str]:
    for each in context.module.assignments:
        if DROPOUT.search(each.key) and isinstance(each.value, Known):
            for other in [NONE] if each.value.value else USUAL:
                yield _with(context.text, (each.value_span, other))


def _fractions(context: Context) -> Iterator[str]:
    """Fractions while they are typed or taken away: the ``1`` of ``1e-4`` is a whole number, which
    is another script."""
    for each in context.module.assignments:
        written = FRACTION.fullmatch(_written(context.text, each.value_span))
        if written is not None:
            yield _with(context.text, (each.value_span, written[1]))


def _numbers(text: str, span: Span | None, values: Callable[[int], list[int]]) -> Iterator[str]:
    number = "" if span is None else _written(text, span)
    if span is not None and number.isdecimal():
        for value in values(int(number)):
            yield _with(text, (span, value))


def _written(text: str, span: Span) -> str:
    return text[span.start : span.end]


def _with(text: str, *values: tuple[Span, object]) -> str:
    for span, value in sorted(values, key=lambda each: -each[0].start):
        text = f"{text[: span.start]}{value}{text[span.end :]}"
    return text


def micro_batches(value: int) -> list[int]:
    """What one keystroke makes of a number, then powers of two."""
    typed = [value // 10, *range(10 * value, 10 * value + 10), *range(1, 10)]
    small = (each for each in typed if each <= MOST)
    powers = (2**power for power in POWERS)
    return _but(value, chain(small, powers))


def other_micro_batches(value: int) -> list[int]:
    """All others of some size, the nearest first."""
    others = sorted(range(1, MOST + 1), key=lambda other: abs(other - value))
    known = {value, *micro_batches(value)}
    return [each for each in others if each not in known]


def small(value: int) -> list[int]:
    """Counts that are small enough to decide something."""
    return _but(value, (1, 2, 5))


def sizes(value: int) -> list[int]:
    """Half of a number, twice, a quarter and four times of it, each with what stands there while it
    is typed; first what is left of the number while it is taken away.

    >>> sizes(1024)[:7]
    [102, 10, 1, 5, 51, 512, 2]
    """
    goals = (value // 2, 2 * value, value // 4, 4 * value)
    typed = [int(str(goal)[: end + 1]) for goal in goals for end in range(len(str(goal)))]
    return _but(value, chain(taken_away(value), typed))


def taken_away(value: int) -> list[int]:
    """What is left of a number while it is taken away."""
    return [value // 10**digits for digits in range(1, len(str(value)))]


def _but(value: int, others: Iterable[int]) -> list[int]:
    """Each of the others once; no number is 0."""
    return [each for each in dict.fromkeys(others) if each not in (0, value)]
