"""The Python that models are written in, read; and what is not known, with its line.

These take seconds each.
"""

from __future__ import annotations

import pytest

from tests.unit.memory.reading.test_programs import text_of, unread


@pytest.mark.parametrize(
    ("forward", "reason"),
    [
        ("while True:\n    pass", "takes too many steps to read"),
        ("y = [0] * 10 ** 9", "makes something of 1000000000 elements"),
        ("y = 'a' * 10 ** 9", "makes something of 1000000000 elements"),
        ("y = 9 ** 9 ** 9", "a number of too many digits"),
        ("def f():\n    return f()\nf()", "calls are nested too deeply"),
        ("y = 1 << 10 ** 9", "a number of too many digits"),
    ],
)
def test_reading_is_bounded(forward: str, reason: str) -> None:
    assert unread(text_of(forward)).startswith(reason)
