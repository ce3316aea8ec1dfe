"""A config that a notebook's cell writes, as what it gives a run: a value for each of its names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.settled import Override
from nanolint.source.python import literal
from nanolint.source.values import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.diagnostics import Span
    from nanolint.launches.placed import Placed
    from nanolint.source.assignments import Assignment


def read_written(config: Placed) -> Iterator[Override]:
    """What ``config`` sets, each with where it stands. Raises ValueError, in one line."""
    from nanolint.source.parse import Unparsable, parse
    from nanolint.source.refusals import TooComplex

    try:
        module = parse(config.text, {})
    except (Unparsable, TooComplex) as error:
        raise ValueError(f"cannot be read: {error}") from error
    dynamic = dict(module.dynamic)
    if "*" in dynamic:
        raise ValueError(f"may set any key: {dynamic['*']}")
    assigned = {each.key: each for each in module.assignments}
    for key, value in module.final.items():
        each = assigned.get(key)
        if key in dynamic:
            yield Override(key, Unknown(dynamic[key]), in_config=True)
        elif each is not None:
            place = config.span(each.key_span.start, each.value_span.end)
            value_place = _value_place(config, each) if each.value == value else None
            yield Override(key, value, place, value_place, in_config=True)


def _value_place(config: Placed, each: Assignment) -> Span | None:
    """Where another value can be put in the place of a literal, or of a product of them.

    Of a text that is what its quotes hold: they stay.
    """
    if each.shared:
        return None
    start, end = each.value_span.start, each.value_span.end
    if each.factors and all(factor.value is not None for factor in each.factors):
        return config.exact(start, end)
    try:
        value = literal(each.expression)
    except (ValueError, SyntaxError):
        return None
    if isinstance(value, str):
        is_plain = each.expression in (f"'{value}'", f'"{value}"')
        return config.exact(start + 1, end - 1) if is_plain else None
    return config.exact(start, end) if isinstance(value, (int, float)) else None
