"""Constants that have names: those of a text that is another one but for some lines are found as in
any text."""

from __future__ import annotations

import pytest

from nanolint.tape import numbers as named_module
from nanolint.tape.numbers import named

LINES = (
    *("a = 1", "b: int = 2; c = 3.5", "if x: d = 4", "else:", "    e = 5", "def f():", "@deco"),
    *('g = """', '"""', "h = (", "1)", "class C: z = 7", "# note", "", "k = 9 \\", "\tn = 1"),
    *('l = "é"; m = 10', "o = 1\f", "p = 1\rq = 2", "try: s = 1", "except: t = 2", "a = b = 3"),
)


def fresh(text: str) -> object:
    """What is found where nothing was before."""
    forget()
    return named(text)


def forget() -> None:
    named.cache_clear()
    named_module._lately.clear()


def test_only_lines_that_differ_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    body = "".join(f"    x{number} = {number}\n" for number in range(100))
    text = f"def f():\n{body}batch_size = 12\nmax_iters = 600\n"
    before = named(text)
    monkeypatch.setattr(named_module, "python_tree", lambda _: pytest.fail("parsed whole"))
    after = named(text.replace("batch_size = 12", "batch_size = 16"))
    assert [each.value for each in after if each.is_global] == [16, 600]
    assert len(after) == len(before)
