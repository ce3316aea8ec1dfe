"""Text to libcst tree, within bounds, and tree to character offsets."""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING

import libcst as cst
from libcst._nodes.internal import CodegenState

from nanolint.diagnostics import Span
from nanolint.source.scan import TooComplex, check
from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterable

_MARK = "\ufeff"  # a byte order mark in decoded text; libcst swallows it
_LIBCST_POSITION = re.compile(r"error at (\d+):(\d+)")


class Unparsable(Exception):
    """Text that is not valid Python; ``offset`` is the character where that shows."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


def parse_tree(text: str) -> cst.Module:
    """The concrete syntax tree of ``text``. Raises Unparsable or TooComplex."""
    check(text)
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise _explained(text, error.message) from None
    except UnicodeEncodeError as error:
        raise Unparsable("a character that is not valid Unicode", error.start) from None
    except RecursionError:
        raise TooComplex("its code is nested too deeply") from None


def spans(module: cst.Module, nodes: Iterable[cst.CSTNode]) -> dict[cst.CSTNode, Span]:
    """The characters that each of ``nodes`` takes in ``module.code``, own parentheses included."""
    positions = _Positions(module, start=0, wanted={id(node) for node in nodes})
    return {node: Span(*span) for node, span in positions.spans.items()}


def all_spans(module: cst.Module, text: str) -> dict[cst.CSTNode, tuple[int, int]]:
    """The span in ``text`` of every node but white space, in one pass. Raises TooComplex."""
    start = len(_MARK) if text.startswith(_MARK) else 0
    try:
        positions = _Positions(module, start=start, wanted=None)
    except RecursionError:
        raise TooComplex("its code is nested too deeply") from None
    if "".join(positions.tokens) != text[start:]:
        # All offsets rest on this. libcst keeps it for every file that it was ever tried on.
        raise TooComplex("its syntax tree does not give back the same text")
    return positions.spans


class _Positions(CodegenState):
    """Writes a module out, as libcst does to get its code, and notes where each node lies.

    libcst's own position providers do the same at four times the cost, for every node.
    """

    def __init__(self, module: cst.Module, start: int, wanted: set[int] | None) -> None:
        super().__init__(module.default_indent, module.default_newline)
        self.spans: dict[cst.CSTNode, tuple[int, int]] = {}
        self._position = start
        self._starts: list[int] = []
        self._wanted = wanted
        module._codegen(self)

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        self._position += len(value)

    def add_indent_tokens(self) -> None:
        self.tokens.extend(self.indent_tokens)
        self._position += sum(map(len, self.indent_tokens))

    def before_codegen(self, _node: cst.CSTNode) -> None:
        self._starts.append(self._position)

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self._starts.pop()
        if type(node) not in _BLANK if self._wanted is None else id(node) in self._wanted:
            self.spans[node] = (start, self._position)


_BLANK = frozenset({cst.SimpleWhitespace, cst.ParenthesizedWhitespace, cst.Newline})


def _explained(text: str, message: str) -> Unparsable:
    """Why ``text`` is not valid Python, in CPython's words: libcst lists all it hoped for."""
    lines = LineIndex(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        offset = lines.offset(error.lineno or 1, error.offset or 1)
        return Unparsable(error.msg.partition(" (<unknown>")[0], offset)
    except (MemoryError, RecursionError, ValueError):
        pass  # a null byte, before Python 3.12
    position = _LIBCST_POSITION.search(message)
    offset = lines.offset(int(position[1]), int(position[2]) + 1) if position else 0
    return Unparsable("invalid syntax", offset)
