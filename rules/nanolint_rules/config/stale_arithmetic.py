"""NL313: a comment that does the sum of yesterday's values."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nanolint.rule import (
    Context,
    Edit,
    Finding,
    Fix,
    FixAvailability,
    Need,
    Safety,
    Severity,
    Span,
    rule,
)
from nanolint.run.model import Dialect
from nanolint_rules._values import integer
from nanolint_rules.config._arithmetic import products

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint_rules.config._arithmetic import Number, Product

STEPS = "gradient_accumulation_steps"
IN_ORDER = ("batch_size", STEPS, "block_size")  # how people multiply them without saying so


@rule(
    "NL313",
    "stale-arithmetic",
    Severity.WARNING,
    needs=[Need.CONFIG],
    fix=FixAvailability.ALWAYS,
)
def stale_arithmetic(context: Context) -> Iterator[Finding]:
    """A comment multiplies values that are no longer those of the file."""
    if any(context.from_command_line(key) for key in IN_ORDER):
        return  # the comment is about the file as it is
    for comment in context.module.comments:
        for product in products(comment):
            values = _labelled(context, product) or _bare(context, product)
            if values is not None:
                yield from _compared(product, values)


def _labelled(context: Context, product: Product) -> list[int] | None:
    """What the factors should be, where every one of them is called by its name."""
    keys = [factor.key for factor in product.factors]
    if None in keys or len(set(keys)) < len(keys) or STEPS not in keys:
        return None
    values = {key: integer(context.value(key)) for key in IN_ORDER}
    if "world_size" in keys:
        values["world_size"] = integer(_plain(product.factors[keys.index("world_size")]))
        if context.project.dialect is Dialect.TOTAL:
            steps, world = values[STEPS], values["world_size"]
            if steps is None or world is None or steps % world:
                return None
            values[STEPS] = steps // world  # the file says the total, the comment each GPU's share
    wanted = [values[key] for key in keys if key is not None]
    return None if None in wanted else [value for value in wanted if value is not None]


def _bare(context: Context, product: Product) -> list[int] | None:
    """The same for ``16 * 32 = 512``, where the result is right and the factors are not."""
    if any(factor.label for factor in product.factors):
        return None
    keys = IN_ORDER[: len(product.factors)]
    values = [integer(context.value(key)) for key in keys]
    known = [value for value in values if value is not None]
    assigned = any(context.assignment(key) for key in keys[:2])
    if len(known) != len(product.factors) or not assigned or prod(known) < 2:
        return None
    stated = sorted(_plain(factor) for factor in product.factors)
    if stated == sorted(known) or prod(stated) != prod(known):
        return None  # right, in whatever order, or about something else
    return known if product.result.says(prod(known)) else None


def _compared(product: Product, values: list[int]) -> Iterator[Finding]:
    numbers = [*product.factors, product.result]
    wanted = [*values, prod(values)]
    stale = [(n, value) for n, value in zip(numbers, wanted, strict=True) if not n.says(value)]
    if not stale:
        return
    told = ", ".join(f"{_named(number)} should be {number.written(v)}" for number, v in stale)
    edits = tuple(Edit(n.span.start, n.span.end, n.written(value)) for n, value in stale)
    yield Finding(
        message=f"the comment's arithmetic is out of date: {told}",
        span=Span(numbers[0].span.start, numbers[-1].span.end),
        fix=Fix("Update the comment", Safety.SAFE, edits),
    )


def _named(number: Number) -> str:
    return f"{number.text} {number.label}".strip()


def _plain(number: Number) -> int:
    return int(number.text.replace(",", "").replace("_", ""))
