"""The texts that are likely to be typed next.

Another number where one decides how much memory is taken, one that decides nothing, the other of
two truth values, and a model without dropout, or with it. Who edits a config goes down it: what
stands below the value that was typed last comes first.
"""

from __future__ import annotations

import re
from itertools import chain
from math import log2
from typing import TYPE_CHECKING, NamedTuple

from nanolint.lsp.load import micro_batch_span
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


MOST = 128  # micro-batches that are likely, beside powers of two
POWERS = range(21)
NEAR = 8  # goals of which each is typed digit by digit


def micro_batches(value: int) -> list[int]:
    """The first digits of those that people choose, the nearest first, then these themselves, and
    what one keystroke makes of a number.

    >>> micro_batches(12)[:10]
    [1, 8, 6, 2, 3, 4, 16, 24, 32, 48]
    """
    first = [int(str(goal)[0]) for goal in _goals(value)]
    typed = [*range(1, 10), *range(10 * value, 10 * value + 10)]
    small = (each for each in typed if each <= MOST)
    powers = (2**power for power in POWERS[:10])
    return _but(value, chain(taken_away(value), first, sizes(value), small, powers))


def other_micro_batches(value: int) -> list[int]:
    """All others of some size, the nearest first."""
    others = sorted(range(1, MOST + 1), key=lambda other: abs(other - value))
    known = {value, *micro_batches(value)}
    return [each for each in others if each not in known]


def sizes(value: int) -> list[int]:
    """What is left of a number while it is taken away, and others while they are typed.

    >>> sizes(1024)[:10]
    [102, 10, 1, 5, 51, 512, 2, 20, 204, 2048]
    """
    typed = [int(str(goal)[: end + 1]) for goal in _goals(value) for end in range(len(str(goal)))]
    return _but(value, chain(taken_away(value), typed))


def counts(value: int) -> list[int]:
    """Numbers of steps: what is left of one, and some that are small enough to decide something."""
    return _but(value, chain(taken_away(value), (1, 2, 5)))


def another_digit(digit: int) -> list[int]:
    """What stands for a fraction while it is typed or taken away, from the first digit of one: the
    ``1`` of ``1e-4`` is a whole number, which is another script.

    >>> another_digit(1)
    [1, 0, 3, 6]
    """
    return list(dict.fromkeys((digit, 0, 1, 3, 6)))


def taken_away(value: int) -> list[int]:
    """What is left of a number while it is taken away."""
    return [value // 10**digits for digits in range(1, len(str(value)))]


def _goals(value: int) -> list[int]:
    """Powers of two and three times these, the nearest first; from a power of two to others.

    >>> _goals(1024)[:5], _goals(6)[:6]
    ([512, 2048, 256, 4096, 768], [8, 4, 3, 12, 16, 2])
    """
    powers = [2**power for power in POWERS]
    thrice = [3 * power for power in powers]
    further = 2.0 if value in powers else 0.0

    def distance(goal: int) -> float:
        return abs(log2(goal / value)) + (further if goal in thrice else 0.0)

    others = [goal for goal in (*powers, *thrice) if goal != value] if value else []
    return sorted(others, key=distance)[:NEAR]


def _but(value: int, others: Iterable[int]) -> list[int]:
    """Each of the others once; no number is 0."""
    return [each for each in dict.fromkeys(others) if each not in (0, value)]
