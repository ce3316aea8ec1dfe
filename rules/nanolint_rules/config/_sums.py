"""Which products in a file's comments its values contradict, and how to put that right."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from nanolint.rule import Dialect, Edit, Span
from nanolint_rules._values import integer
from nanolint_rules.config._arithmetic import products

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nanolint.rule import Comment, Context
    from nanolint_rules.config._arithmetic import Number, Product

STEPS = "gradient_accumulation_steps"
_NUMBERS = re.compile(r"(?<![\w.])\d+(?!\w|\.\d)")
IN_ORDER = ("batch_size", STEPS, "block_size")  # how people multiply them without saying so


class StaleProduct(NamedTuple):
    """A product in a comment, with each number of it that is wrong and what it should be."""

    span: Span
    corrections: tuple[tuple[Number, int], ...]

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The comment put right, every number in the style that it has."""
        return tuple(Edit(n.span.start, n.span.end, n.written(v)) for n, v in self.corrections)


def stale_products(context: Context) -> Iterator[StaleProduct]:
    """The products in comments that were right for other values than the file's.

    Only where every factor is called by the name of a key: other numbers may be anything.
    """
    values = _values(context)
    for _, product in _products(context):
        wanted = _labelled(context, product, values)
        if wanted is not None and _is_right(product):
            yield from _compared(product, wanted)


def sums_to_update(context: Context, changes: Mapping[str, int]) -> Iterator[Edit]:
    """The edits of comments that are right now and would be wrong after ``changes``.

    Here the values are known that a product was made of, so that it needs no names where it stands
    beside them: ``batch_size = 16  # 16 * 32 = 512``. A comment is brought up to date whole, or not
    at all: where it also says ``batch_size = 16``, that changes too.
    """
    values = _values(context)
    by_comment: dict[Comment, list[Edit]] = {}
    for comment, product in _products(context):
        by_comment.setdefault(comment, []).extend(_updated(context, comment, product, changes))
    old = {key: str(values[key]) for key in changes if values.get(key)}
    for comment, edits in by_comment.items():
        if edits:
            edits += _named(comment, old, changes)
        places = {each.start - comment.span.start for each in edits}
        stated = (each for each in _NUMBERS.finditer(comment.text) if each[0] in old.values())
        if all(each.start() in places for each in stated):
            yield from edits


def _updated(
    context: Context, comment: Comment, product: Product, changes: Mapping[str, int]
) -> Iterator[Edit]:
    """The edits of a product that is right now."""
    values = _values(context)
    changed = {**values, **changes}
    now, then = _labelled(context, product, values), _labelled(context, product, changed)
    if now is None and _stands_beside(context, comment):
        keys = _in_order(product, values)
        now, then = _picked(keys, values), _picked(keys, changed)
    if now is None or then is None or any(_compared(product, now)):
        return
    for stale in _compared(product, then):
        yield from stale.edits


def _named(comment: Comment, old: Mapping[str, str], changes: Mapping[str, int]) -> Iterator[Edit]:
    """The edits of ``batch_size = 16`` in a comment."""
    for key, value in old.items():
        for match in re.finditer(rf"\b{key}\s*[=:]\s*({value})(?![\w.])", comment.text):
            start, end = (comment.span.start + at for at in match.span(1))
            yield Edit(start, end, str(changes[key]))


def _values(context: Context) -> dict[str, int | None]:
    return {key: integer(context.value(key)) for key in IN_ORDER}


def _products(context: Context) -> Iterator[tuple[Comment, Product]]:
    if any(context.from_command_line(key) for key in IN_ORDER):
        return  # the comment is about the file as it is
    for comment in context.module.comments:
        for product in products(comment):
            yield comment, product


def _labelled(
    context: Context, product: Product, known: Mapping[str, int | None]
) -> list[int] | None:
    """What the factors should be, where every one of them is called by its name."""
    keys = [factor.key for factor in product.factors]
    if None in keys or len(set(keys)) < len(keys) or STEPS not in keys:
        return None
    values = dict(known)
    if "world_size" in keys:
        values["world_size"] = world = integer(_plain(product.factors[keys.index("world_size")]))
        steps = values[STEPS]
        if context.project.dialect is not Dialect.TOTAL:
            return None  # the file says what each GPU does, the comment may say what all do
        if steps is None or world is None or steps % world:
            return None
        values[STEPS] = steps // world  # the file says the total, the comment each GPU's share
    return _picked([key for key in keys if key is not None], values)


def _in_order(product: Product, values: Mapping[str, int | None]) -> list[str]:
    """The keys that the factors of ``16 * 32 = 512`` are the values of; none where in doubt."""
    keys = list(IN_ORDER[: len(product.factors)])
    if any(factor.label for factor in product.factors):
        return []
    stated = [_plain(factor) for factor in product.factors]
    orders = [keys, [keys[1], keys[0], *keys[2:]]] if len(keys) > 1 else []
    return next((each for each in orders if [values[key] for key in each] == stated), [])


def _stands_beside(context: Context, comment: Comment) -> bool:
    """Whether a comment is behind or right above a line that sets one of the keys."""
    row = context.row(comment.span.start)
    rows = (row, row + 1) if comment.own_line else (row,)
    assignments = (context.assignment(key) for key in IN_ORDER)
    return any(
        each is not None and context.row(each.statement.start) in rows for each in assignments
    )


def _picked(keys: Sequence[str], values: Mapping[str, int | None]) -> list[int] | None:
    """The values of ``keys``; None where there are none, or one is not known."""
    picked = [value for key in keys if (value := values[key]) is not None]
    return picked if keys and len(picked) == len(keys) else None


def _is_right(product: Product) -> bool:
    """Whether the comment does its own sum right, so that it was true one day."""
    return product.result.says(prod(map(_plain, product.factors)))


def _compared(product: Product, values: list[int]) -> Iterator[StaleProduct]:
    numbers = [*product.factors, product.result]
    wanted = [*values, prod(values)]
    wrong = [(n, value) for n, value in zip(numbers, wanted, strict=True) if not n.says(value)]
    if wrong:
        yield StaleProduct(Span(numbers[0].span.start, numbers[-1].span.end), tuple(wrong))


def _plain(number: Number) -> int:
    return int(number.text.replace(",", "").replace("_", ""))
