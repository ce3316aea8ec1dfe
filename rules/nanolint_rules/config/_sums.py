"""Which products in a file's comments its values contradict, and how to put that right."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from nanolint.rule import Edit, Span
from nanolint.run.run import Dialect
from nanolint_rules._values import integer
from nanolint_rules.config._arithmetic import products

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanolint.rule import Context
    from nanolint_rules.config._arithmetic import Number, Product

STEPS = "gradient_accumulation_steps"
IN_ORDER = ("batch_size", STEPS, "block_size")  # how people multiply them without saying so


@dataclass(frozen=True, slots=True)
class StaleProduct:
    """A product in a comment, with each number of it that is wrong and what it should be."""

    span: Span
    corrections: tuple[tuple[Number, int], ...]

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The comment put right, every number in the style that it has."""
        return tuple(Edit(n.span.start, n.span.end, n.written(v)) for n, v in self.corrections)


def stale_products(context: Context) -> Iterator[StaleProduct]:
    """The products in comments that are not those of the file's values."""
    yield from _stale(context, {})


def sums_to_update(context: Context, changes: Mapping[str, int]) -> Iterator[Edit]:
    """The edits of comments that are right now and would be wrong after ``changes``."""
    wrong_already = {product.span for product in stale_products(context)}
    for product in _stale(context, changes):
        if product.span not in wrong_already:
            yield from product.edits


def _stale(context: Context, changes: Mapping[str, int]) -> Iterator[StaleProduct]:
    if any(context.from_command_line(key) for key in IN_ORDER):
        return  # the comment is about the file as it is
    values = {key: changes.get(key, integer(context.value(key))) for key in IN_ORDER}
    assigned = any(context.assignment(key) for key in IN_ORDER[:2])
    for comment in context.module.comments:
        for product in products(comment):
            wanted = _labelled(context.project.dialect, product, values)
            if wanted is None and assigned:
                wanted = _bare(product, values)
            if wanted is not None:
                yield from _compared(product, wanted)


def _labelled(
    dialect: Dialect, product: Product, known: Mapping[str, int | None]
) -> list[int] | None:
    """What the factors should be, where every one of them is called by its name."""
    keys = [factor.key for factor in product.factors]
    if None in keys or len(set(keys)) < len(keys) or STEPS not in keys:
        return None
    values = dict(known)
    if "world_size" in keys:
        values["world_size"] = integer(_plain(product.factors[keys.index("world_size")]))
        if dialect is Dialect.TOTAL:
            steps, world = values[STEPS], values["world_size"]
            if steps is None or world is None or steps % world:
                return None
            values[STEPS] = steps // world  # the file says the total, the comment each GPU's share
    wanted = [values[key] for key in keys if key is not None]
    return None if None in wanted else [value for value in wanted if value is not None]


def _bare(product: Product, values: Mapping[str, int | None]) -> list[int] | None:
    """The same for ``16 * 32 = 512``, where the result is right and the factors are not."""
    if any(factor.label for factor in product.factors):
        return None
    wanted = [values[key] for key in IN_ORDER[: len(product.factors)]]
    known = [value for value in wanted if value is not None]
    if len(known) != len(product.factors) or prod(known) < 2:
        return None
    stated = sorted(_plain(factor) for factor in product.factors)
    if stated == sorted(known) or prod(stated) != prod(known):
        return None  # right, in whatever order, or about something else
    return known if product.result.says(prod(known)) else None


def _compared(product: Product, values: list[int]) -> Iterator[StaleProduct]:
    numbers = [*product.factors, product.result]
    wanted = [*values, prod(values)]
    wrong = [(n, value) for n, value in zip(numbers, wanted, strict=True) if not n.says(value)]
    if wrong:
        yield StaleProduct(Span(numbers[0].span.start, numbers[-1].span.end), tuple(wrong))


def _plain(number: Number) -> int:
    return int(number.text.replace(",", "").replace("_", ""))
