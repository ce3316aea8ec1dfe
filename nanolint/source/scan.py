"""A look at a text before libcst gets it: one pass, no recursion, whatever the text is.

libcst's parser crashes on deep nesting, takes time and memory that grow with nesting times length,
and for patterns of ``match`` time that doubles with each level. The bounds below keep its stack
under 1.5 MiB, and what it allocates under 500 MB; no code written by hand comes near them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.source.values import TooComplex

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LENGTH = 1 << 20  # characters
MAX_STATEMENTS = 10_000
MAX_DEPTH = 400  # see _BRACKET: 100 brackets, or a chain of 400 operators
MAX_WORK = 800_000
MAX_PATTERN_DEPTH = 4  # brackets in the pattern of a ``case``
MAX_ELIFS = 200  # in one chain

# What each takes of MAX_DEPTH, in proportion to the stack that libcst needs for it.
_OPERATOR = 1
_BRACKET = 4
_LAMBDA = 8

_TOKEN = re.compile(
    r"""
    (?![ ]|\B\w)  # most characters: none begins there
    (?:
      (?P<newline>\r\n|\r|\n)
    | (?P<comment>\#[^\r\n]*)
    | (?P<string>(?:rb|br|rf|fr|rt|tr|[rbuft])?(?:'{3}|"{3}|'|"))
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    | (?P<comma>,)
    | (?P<colon>:)
    | (?P<semicolon>;)
    | (?P<operator>[-+*/%@&|^~<>.])
    | (?P<other>[=!]|(?:in|is)\b)
    | (?P<continued>\\(?:\r\n|\r|\n))
    | (?P<lambda>lambda)\b
    | (?P<for>for)\b
    | (?P<keyword>if|else|and|or|not|await)\b
    | (?P<number>\d\w*)
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_GLUED = ("if", "else", "and", "or", "in", "is", "not")  # as in ``1if x else 2``
_LINE_START = re.compile(r"(?:[ \t\f]|\\(?:\r\n|\r|\n))*(?P<word>\w*)[ \t]*(?P<next>[^\r\n]?)")
_CODE = re.compile(r"[ \t\f\ufeff]*[^ \t\f\r\n#]")


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """The characters of one logical line with code, from its first to before its newline."""

    start: int
    end: int


@dataclass(slots=True)
class _Frame:
    """An open bracket or f-string field, or the statement level.

    ``chain`` is the depth that operators since the last comma add: they nest in the tree.
    ``lambdas`` are those whose parameters are being read: their commas separate no items.
    """

    chain: int = 0
    comprehensions: int = 0
    lambdas: int = 0
    string: str | None = None  # the opening of the f-string that this is a field of
    in_spec: bool = False  # behind the colon of that field


def check(text: str) -> None:
    """Raise TooComplex unless ``text`` is within bounds."""
    for _ in logical_lines(text):
        pass


def logical_lines(text: str) -> Iterator[LogicalLine]:
    """The logical lines of ``text`` that hold code. Raises TooComplex at the first excess."""
    if len(text) > MAX_LENGTH:
        raise TooComplex(f"it has more than {MAX_LENGTH:,} characters")
    return _Scan(text).lines()


class _Scan:
    """The state of one pass."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._frames = [_Frame()]
        self._depth = 0
        self._work = 0
        self._statements = 0
        self._elifs: dict[int, int] = {}  # indentation -> length of the chain there
        self._in_pattern = False

    def lines(self) -> Iterator[LogicalLine]:
        text, position, start = self._text, 0, 0
        self._begin_line(0)
        while token := _TOKEN.search(text, position):
            position = token.end()
            if token.lastgroup == "newline" and len(self._frames) == 1:
                if _has_code(text, start):
                    self._end_statement()
                    yield LogicalLine(start, token.start())
                start = position
                self._begin_line(start)
                self._spend()
            else:
                position = self._token(token)
        if _has_code(text, start):
            self._end_statement()
            yield LogicalLine(start, len(text))

    def _token(self, token: re.Match[str]) -> int:
        """Take in a token; returns where to go on."""
        kind, position, top = token.lastgroup, token.end(), self._frames[-1]
        if kind == "comma":
            if not top.lambdas:
                self._deepen(top, -top.chain)
        elif kind in ("operator", "keyword"):
            self._deepen(top, _OPERATOR)
            if token[0] == "if" and len(self._frames) == 1:
                self._in_pattern = False  # the guard of a ``case``
        elif kind == "string":
            self._deepen(top, _OPERATOR)  # 'a' 'b' 'c' is a chain, too
            return self._string(position, token[0])
        elif kind == "open":
            self._deepen(top, _OPERATOR)  # f()()() is a chain, too
            self._open(_Frame())
        elif kind == "close":
            return self._close(position)
        elif kind == "colon":
            return self._colon(position)
        elif kind == "semicolon" and len(self._frames) == 1:
            self._end_statement()
        elif kind == "lambda":
            self._deepen(top, _LAMBDA)
            top.lambdas += 1
        elif kind == "for":
            self._comprehension(top)
        elif kind == "number":
            if token[0].endswith("for"):
                self._comprehension(top)
            elif token[0].endswith(_GLUED):
                self._deepen(top, _OPERATOR)
        self._spend()
        return position

    def _deepen(self, frame: _Frame, by: int) -> None:
        frame.chain += by
        self._add(by)

    def _comprehension(self, frame: _Frame) -> None:
        frame.comprehensions += 1
        self._add(_BRACKET)

    def _open(self, frame: _Frame) -> None:
        self._frames.append(frame)
        self._add(_BRACKET)
        if self._in_pattern and len(self._frames) > MAX_PATTERN_DEPTH + 1:
            raise TooComplex("it has a pattern that is nested too deeply")

    def _add(self, depth: int) -> None:
        self._depth += depth
        if self._depth > MAX_DEPTH:
            raise TooComplex("its code is nested too deeply")

    def _spend(self) -> None:
        self._work += 2 * (_BRACKET + self._depth)
        if self._work > MAX_WORK:
            raise TooComplex("it has too much code")

    def _close(self, position: int) -> int:
        if len(self._frames) == 1:
            return position  # not valid, which libcst sees before it parses
        frame = self._frames.pop()
        self._depth -= _BRACKET * (1 + frame.comprehensions) + frame.chain
        self._spend()
        return position if frame.string is None else self._string(position, frame.string)

    def _colon(self, position: int) -> int:
        top = self._frames[-1]
        if top.lambdas:
            top.lambdas -= 1
        elif top.string is not None:
            top.in_spec = True
            return self._string(position, top.string)
        elif len(self._frames) == 1:
            self._in_pattern = False
        return position

    def _string(self, position: int, opening: str) -> int:
        """Pass a string, up to its end or to the code of a field in it."""
        while part := _inside(opening, self._frames[-1].in_spec).search(self._text, position):
            position = part.end()
            if part[0] == "{":
                self._open(_Frame(string=opening))
                return position
            if part[0] == "}":
                if self._frames[-1].in_spec:
                    frame = self._frames.pop()
                    self._depth -= _BRACKET * (1 + frame.comprehensions) + frame.chain
            elif part.lastgroup == "end":
                return position
        return len(self._text)

    def _begin_line(self, start: int) -> None:
        line = _LINE_START.match(self._text, start)
        assert line is not None  # it matches the empty string
        word, indentation = line["word"], line.start("word") - start
        self._in_pattern = word == "case" and line["next"] not in ("=", ".", ",")
        if not word:
            return
        chained = word in ("elif", "else")
        for column in [
            c for c in self._elifs if c > indentation or (c == indentation and not chained)
        ]:
            del self._elifs[column]
        if word == "elif":
            self._elifs[indentation] = self._elifs.get(indentation, 0) + 1
            if self._elifs[indentation] > MAX_ELIFS:
                raise TooComplex(f"it has an if statement with more than {MAX_ELIFS} branches")

    def _end_statement(self) -> None:
        self._frames = [_Frame()]
        self._depth = 0
        self._spend()
        self._statements += 1
        if self._statements > MAX_STATEMENTS:
            raise TooComplex(f"it has more than {MAX_STATEMENTS:,} statements")


def _has_code(text: str, start: int) -> bool:
    return _CODE.match(text, start) is not None


@cache
def _inside(opening: str, in_spec: bool) -> re.Pattern[str]:
    """What to stop at inside a string: its end, an escape, a brace of an f-string."""
    quote = opening.lstrip("rRbBuUfFtT")
    prefix = opening[: -len(quote)].lower()
    end = quote if len(quote) == 3 else quote + r"|[\r\n]"
    if "f" not in prefix and "t" not in prefix:
        return re.compile(rf"\\(?:\r\n|[\s\S])|(?P<end>{end})")
    # A backslash does not keep a brace from opening a field; \N{...} is a character.
    escape = r"\\(?:\r\n|[^{}])" if "r" in prefix else r"\\(?:\r\n|N\{[^{}\r\n]*\}|[^{}])"
    braces = r"[{}]" if in_spec else r"\{\{|\}\}|[{}]"
    return re.compile(rf"{escape}|{braces}|(?P<end>{end})")
