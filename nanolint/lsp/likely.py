"""What is likely to be typed next: another number where one decides how much memory is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.lsp.micro_batch import micro_batch_span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanolint.diagnostics import Span
    from nanolint.rule.context import Context

MICRO_BATCH = "the micro-batch"
SIZE = "block_size"  # what people change beside it
MOST = 128  # micro-batches that are likely, beside powers of two
POWERS = range(10)


def likely_texts(context: Context, typed: int | None = None) -> dict[str, Iterator[str]]:
    """The texts with each other number that is likely, by the places of these numbers, and each
    with the likeliest first. ``typed`` is where somebody typed last: it goes on there."""
    return {
        name: _texts(context.text, span, micro_batches if name is MICRO_BATCH else sizes)
        for name, span in dict(_places(context, typed)).items()
    }


def _places(context: Context, typed: int | None) -> Iterator[tuple[str, Span]]:
    micro_batch, size = micro_batch_span(context), context.assignment(SIZE)
    for each in context.module.assignments:
        span = each.value_span
        if typed is not None and span.start <= typed <= span.end and span != micro_batch:
            yield each.key, span
    if micro_batch is not None:
        yield MICRO_BATCH, micro_batch
    if size is not None:
        yield SIZE, size.value_span


def _texts(text: str, span: Span, values: Callable[[int], list[int]]) -> Iterator[str]:
    number = text[span.start : span.end]
    if number.isdecimal():
        for value in values(int(number)):
            yield f"{text[: span.start]}{value}{text[span.end :]}"


def micro_batches(value: int) -> list[int]:
    """What one keystroke makes of a number, then powers of two, then all others of some size."""
    typed = [value // 10, *range(10 * value, 10 * value + 10), *range(1, 10)]
    powers = [2**power for power in POWERS]
    others = sorted(range(1, MOST + 1), key=lambda other: abs(other - value))
    small = (each for each in typed if each <= MOST)
    return [each for each in dict.fromkeys([*small, *powers, *others]) if each not in (0, value)]


def sizes(value: int) -> list[int]:
    """Half of a number, twice, a quarter and four times of it, each with what stands there while it
    is typed; first what is left of the number while it is taken away.

    >>> sizes(1024)[:7]
    [102, 10, 1, 5, 51, 512, 2]
    """
    backwards = [value // 10**digits for digits in range(1, len(str(value)))]
    goals = (value // 2, 2 * value, value // 4, 4 * value)
    typed = [int(str(goal)[: end + 1]) for goal in goals for end in range(len(str(goal)))]
    return [each for each in dict.fromkeys([*backwards, *typed]) if each not in (0, value)]
