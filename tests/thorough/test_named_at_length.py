"""Constants that have names: those of a text that is another one but for some lines are found as in
any text.

These take seconds each.
"""

from __future__ import annotations

import ast
from itertools import product

import pytest

from nanolint.tape import numbers as named_module
from nanolint.tape.numbers import named
from tests.unit.tape.test_named import LINES, forget, fresh


@pytest.mark.parametrize("before", ["", "r = 1\n"])
def test_another_line_is_found_as_in_a_new_text(before: str) -> None:
    found_by_lines = 0
    for first, second, other in product(LINES, repeat=3):
        old, new = f"{before}{first}\n{second}\n", f"{before}{other}\n{second}\n"
        try:
            ast.parse(old)
        except (SyntaxError, ValueError):
            continue
        expected = fresh(new)
        forget()
        named(old)
        assert named(new) == expected, (old, new)
        found_by_lines += len(named_module._lately) == 2 and bool(expected)
    assert found_by_lines > 100
