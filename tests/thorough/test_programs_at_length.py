"""The Python that models are written in, read; and what is not known, with its line.

These take seconds each.
"""

from __future__ import annotations

import pytest

from tests.unit.interpreter.test_programs import text_of, unread


@pytest.mark.parametrize(
    ("forward", "reason"),
    [
        ("while True:\n    x = x * 1", "how often a loop turns is not known"),
        ("x = x * len([0] * 10 ** 9)", "makes something of 1000000000 elements"),
        ("x = x * len('a' * 10 ** 9)", "makes something of 1000000000 elements"),
        ("x = x * (9 ** 9 ** 9)", "a number of too many digits"),
        ("def f(x):\n    return f(x)\nx = f(x)", "calls are nested too deeply"),
        ("x = x * (1 << 10 ** 9)", "a number of too many digits"),
    ],
)
def test_reading_is_bounded(forward: str, reason: str) -> None:
    assert unread(text_of(forward)).startswith(reason)
