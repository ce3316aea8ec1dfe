"""The look before the parse: it counts code, not what strings and comments contain."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanolint.source import scan
from nanolint.source.parse import Unparsable, parse
from nanolint.source.scan import check, logical_lines
from nanolint.source.values import TooComplex

if TYPE_CHECKING:
    import re


def lines(text: str) -> list[str]:
    return [text[line.start : line.end] for line in logical_lines(text)]


def test_logical_lines_are_those_with_code() -> None:
    text = "# c\n\nx = (1,\n  # c\n  2)  # d\r\ny = '''\n#'''\rz = \\\n  3\n   \n  # e"
    assert lines(text) == ["x = (1,\n  # c\n  2)  # d", "y = '''\n#'''", "z = \\\n  3"]


@pytest.mark.parametrize(
    "text",
    [
        "x = '" + "(" * 5000 + "'",
        "x = '''" + "(\n" * 5000 + "'''",
        "x = r'\\\\'; y = '" + "[" * 5000 + "'",
        "# " + "(" * 5000,
        "x = f'" + "{{" * 5000 + "'",
        "x = f'{a}" + "(" * 5000 + "{b:" + ">" * 500 + "}" + "[" * 500 + "'",
        "x = f'{y[\"(\"]!r:{w}}((('",
        "x = [" + "1 + 1, " * 5000 + "]",
        "x = [" + "(1, 2), " * 5000 + "]",
        "x = {" + "'a': lambda x, y: x, " * 2000 + "}",
        "x = f(" + "a=1 if b else 2, " * 2000 + ")",
        "x = 1\n" * 9999,
        "x = a if b else c\n" * 5000,
        "if a:\n    pass\nelif b:\n    pass\n" * 1000,
        "match x:\n" + "    case {'a': [b, C(d=1)]}: pass\n" * 500,
        "case = ((((((1))))))",
        "\n" * 100_000,
    ],
)
def test_long_and_flat_is_fine(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 101 + ")" * 101,
        "x = f'{" + "(" * 101 + ")" * 101 + "}'",
        "x = '" + "'" + "(" * 101,
        "x = '\\''" + "(" * 101,
        "x = " + "-" * 500 + "1",
        "x = " + "not " * 500 + "1",
        "x = " + "+".join("1" * 500),
        "x = " + " and ".join("a" * 500),
        "x = " + "1or " * 500 + "1",
        "x = " + "0xfor " * 500 + "1",
        "x = " + "1 if a else " * 300 + "2",
        "x = a" + ".b" * 500,
        "x = a" + "()" * 500,
        "x = a" + "[0]" * 500,
        "x = " + "lambda: " * 60 + "1",
        "x = " + "lambda a, b=" * 60 + "1" + ": 1" * 60,
        "x = [1 " + "for a, b in c " * 120 + "]",
        "x = [1" + "for a, b in 1" * 120 + "]",
        "x = (" + "'a' " * 500 + ")",
        "import a" + ".b" * 500,
        "if a: pass\n" + "elif a: pass\n" * 300,
        "if a:\n  if b: pass\n  else: pass\n" + "elif a:\n  if b: pass\n  elif c: pass\n" * 300,
        "match x:\n  case ((((((a)))))): pass\n",
        "match x:\n  case A(b=A(b=A(b=A(b=A(b=1))))): pass\n",
        "match x:\n  case ((((((",
        "x = 1\n" * 10_001,
        "x = 1; " * 10_001,
        "x = [" + "1," * 300_000 + "]",
        "x = " + "'a' in " * 100_000 + "b",
        "a = " * 200_000 + "1",
        ("x = " + "f(" * 80 + ")" * 80 + "\n") * 100,
        "x" * (1 << 20) + "yz",
    ],
)
def test_what_libcst_could_not_take_is_refused(text: str) -> None:
    with pytest.raises(TooComplex):
        check(text)


class CommentScan(scan._Scan):
    """A scan that also notes where comments start."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.comments: list[int] = []

    def _token(self, token: re.Match[str]) -> int:
        if token.lastgroup == "comment":
            self.comments.append(token.start())
        return super()._token(token)


QUOTES = ["'", '"', "'''", '"""', "f'", 'f"', "rf'", 'f"""', "rb'"]
FIELDS = ["{", "}", "{{", "}}", ":", "!r", "=", "a", "(", ")", "[", "]"]
REST = ["#c", "\n", "\r\n", "\r", " ", "\\", "\\\n", "\\'", "\\N{DASH}", "\\{"]


@settings(deadline=None)
@given(st.lists(st.sampled_from([*QUOTES, *FIELDS, *REST]), max_size=16).map("".join))
def test_strings_end_where_libcst_ends_them(pieces: str) -> None:
    text = f"x = {pieces}\n"
    with contextlib.suppress(Unparsable, TooComplex):
        comments = [comment.span.start for comment in parse(text).comments]
        own = CommentScan(text)
        assert list(own.lines())
        assert own.comments == comments
