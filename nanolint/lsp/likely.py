"""What is likely to be typed next: another number where one decides how much memory is taken, one
that decides nothing, the other of two truth values, and a model without dropout, or with it.

Who edits a config goes down it: what stands below the value that was typed last comes first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from nanolint.lsp.likely_numbers import (
    another_digit,
    counts,
    micro_batches,
    other_micro_batches,
    sizes,
)
from nanolint.lsp.micro_batch import micro_batch_span
from nanolint.source.values import Known
from nanolint.tape.numbers import COUNTS as COUNTED
from nanolint.verdict.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nanolint.diagnostics import Span
    from nanolint.rule.context import Context
    from nanolint.source.assignments import Assignment

FOLLOWED = "all that counts"  # steps, and when something is done; hardly ever does memory follow it
OTHERS = "other micro-batches"
PASSES = "gradient_accumulation_steps"
OTHER = {"True": "False", "False": "True"}
DROPOUT = re.compile(r"dropout", re.IGNORECASE)
FRACTION = re.compile(r"(\d+)(\.\d*(e-?\d+)?|e-?\d+)", re.IGNORECASE)
NONE, USUAL = "0.", ("0.1", "0.2")  # of what is dropped: without any, other graphs are compiled
FEW_PASSES = 4  # passes that are read one by one; who has more allocates as for 5 or 6
DIGITS = (5, 1, 2, 4, 3, 6, 7, 8, 9)  # of passes, those first that take a reading
MOST_DIGITS = 18
FIT = (Outcome.COMFORTABLE, Outcome.THIN)


class Likely(NamedTuple):
    """Texts, the likeliest first, and how many of these are as good as sure to be typed by whoever
    changes that value, whatever to."""

    texts: Iterable[str]
    sure: int = 0


def likely_texts(context: Context, typed: int | None = None) -> dict[str, Likely]:
    """The texts that are likely, by what is another thing in them. ``typed`` is where somebody
    typed last."""
    found = {FOLLOWED: Likely(_followed(context), sure=1)}
    batch = micro_batch_span(context)
    for each in _in_turn(context, typed):
        written = _written(context.text, each.value_span)
        values = [value for value in _values(each, written, batch) if str(value) != written]
        sure = [value for value in values if _is_sure(value, written)]
        if values:
            texts = _each_with(context.text, each.value_span, dict.fromkeys([*sure, *values]))
            found.setdefault(f"{each.key} = {written}", Likely(texts, len(sure)))
    number = _number(context, batch)
    if batch is not None and number is not None:
        others = _each_with(context.text, batch, other_micro_batches(number))
        found[OTHERS] = Likely(others)
    return found


def _in_turn(context: Context, typed: int | None) -> list[Assignment]:
    """The one below what was typed, those further below, and those above. What was typed is likely
    to be typed again where the run does not fit."""
    at = -1 if typed is None else typed
    listed = context.module.assignments
    own = [each for each in listed if each.value_span.start <= at <= each.value_span.end]
    below = [each for each in listed if each.value_span.start > at]
    above = [each for each in listed if each.value_span.end < at]
    fits = all(each.verdict is None or each.verdict.outcome in FIT for each in context.cases)
    return [*below, *above, *own] if fits else [*below[:1], *own, *below[1:], *above]


def _values(each: Assignment, written: str, batch: Span | None) -> Sequence[object]:
    """What is likely in the place of a value."""
    if each.expression in OTHER:
        return [OTHER[each.expression]]
    if each.key == PASSES:
        return DIGITS
    if DROPOUT.search(each.key) and isinstance(each.value, Known):
        return [NONE, "0"] if each.value.value else [*USUAL, "0"]
    number = _whole(written)
    if number is not None:
        if each.value_span == batch:
            return micro_batches(number)
        return counts(number) if COUNTED.search(each.key) else sizes(number)
    fraction = FRACTION.fullmatch(written)
    return another_digit(int(fraction[1])) if fraction else []


def _is_sure(value: object, written: str) -> bool:
    """Whether it stands there while what is written is deleted, or while another fraction is
    typed: one more number, and whatever else stands there is followed."""
    return written.startswith(str(value)) or (value == 0 and bool(FRACTION.fullmatch(written)))


def _followed(context: Context) -> Iterator[str]:
    """Twice all whole numbers that count, and the passes where they are many: that shows of a
    reading that it follows each of them."""
    twice: list[tuple[Span, object]] = []
    for each in context.module.assignments:
        number = _number(context, each.value_span)
        if COUNTED.search(each.key) and each.key != PASSES and number is not None:
            twice.append((each.value_span, 2 * number))
    passes = context.assignment(PASSES)
    many = passes.value.value if passes and isinstance(passes.value, Known) else None
    if passes and type(many) is int and many > FEW_PASSES:
        twice.append((passes.value_span, 2 * many))
    if twice:
        yield _with(context.text, *twice)


def _number(context: Context, span: Span | None) -> int | None:
    return None if span is None else _whole(_written(context.text, span))


def _whole(written: str) -> int | None:
    return int(written) if written.isdecimal() and len(written) <= MOST_DIGITS else None


def _written(text: str, span: Span) -> str:
    return text[span.start : span.end]


def _each_with(text: str, span: Span, values: Iterable[object]) -> Iterator[str]:
    for value in values:
        yield _with(text, (span, value))


def _with(text: str, *values: tuple[Span, object]) -> str:
    for span, value in sorted(values, key=lambda each: -each[0].start):
        text = f"{text[: span.start]}{value}{text[span.end :]}"
    return text
