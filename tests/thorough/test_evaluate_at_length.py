"""Expressions have Python's values, or none, and never cost much.

These take seconds each.
"""

from __future__ import annotations

import pytest

from nanolint.source.parse import parse
from nanolint.source.values import Unknown
from tests.unit.source.test_evaluate import unknown


@pytest.mark.parametrize(
    "expression",
    [
        "9 ** 9 ** 9",
        "9 ** 999999999",
        "1 << 10 ** 10",
        "2 ** 4096 * 2 ** 4096",
        "'a' * 10 ** 12",
        "10 ** 12 * 'a'",
        "[0] * 10 ** 10",
        "(0,) * 10 ** 10",
        "f'{1:999999999}'",
        "f'{1.0:.999999999f}'",
        "'%999999999d' % 1",
        "'%*d' % (999999999, 1)",
        "'{:999999999}'.format(1)",
        "round(5, -10 ** 9)",
        "1" * 5000,
        "1" * 200_000,
        "'" + "a" * 200_000 + "'",
        "[" + "0," * 20_000 + "]",
    ],
)
def test_what_would_fill_the_memory_is_too_large(expression: str) -> None:
    assert unknown(expression) == "too large to evaluate"


@pytest.mark.parametrize("grow", ["[x, x]", "(x, x)", "{1: x, 2: x}", "[x]", "x + x", "str([x])"])
def test_values_that_grow_statement_by_statement_are_stopped(grow: str) -> None:
    start = "'ab'" if "+" in grow or "str" in grow else "[0]"
    text = f"x = {start}\n" + f"x = {grow}\n" * 2000
    assert parse(text).final["x"] == Unknown("too large to evaluate") or "reads x" in str(
        parse(text).final["x"]
    )
