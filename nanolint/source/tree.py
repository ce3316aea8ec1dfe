"""Text to libcst tree, within bounds, and tree to character offsets."""

from __future__ import annotations

import re

import libcst as cst
from libcst._nodes.internal import CodegenState

from nanolint.source.python import new_tree
from nanolint.source.scan import logical_lines
from nanolint.source.text import LineIndex
from nanolint.source.values import TooComplex, Unparsable

_PREFIX = re.compile(r"\ufeff?\f*")
_LONE_CR = re.compile(r"\r(?!\n)")
_LIBCST_POSITION = re.compile(r"error at (\d+):(\d+)")
_TOO_DEEP = "its code is nested too deeply"


def parse_tree(text: str) -> cst.Module:
    """The concrete syntax tree of ``text``. Raises Unparsable or TooComplex."""
    return _parsed(_faithful(text), text)


def parse_with_spans(text: str) -> tuple[cst.Module, dict[cst.CSTNode, tuple[int, int]]]:
    """The tree of ``text``, and the span of every node but white space.

    Raises Unparsable or TooComplex.
    """
    code = _faithful(text)
    module = _parsed(code, text)
    try:
        positions = _Positions(module)
    except RecursionError:
        raise TooComplex(_TOO_DEEP) from None
    written = "".join(positions.tokens)
    # All offsets rest on this. A newline behind a last comment that ends with a backslash is lost.
    if written != code and written != code.removesuffix("\n").removesuffix("\r"):
        raise TooComplex("its syntax tree does not give back the same text")
    return module, positions.spans


def positions(module: cst.Module) -> dict[cst.CSTNode, tuple[int, int]]:
    """The characters that each node but white space takes in the text of ``module``, own
    parentheses included. They hold for every text that ``parse`` takes."""
    return _Positions(module).spans


def _parsed(code: str, text: str) -> cst.Module:
    try:
        return cst.parse_module(code)
    except RecursionError:
        raise TooComplex(_TOO_DEEP) from None
    except UnicodeEncodeError as error:
        raise Unparsable("a character that is not valid Unicode", error.start) from None
    except cst.ParserSyntaxError as error:
        raise _refusal(text, error.message) from None
    except (cst.CSTLogicError, cst.CSTValidationError):
        raise _refusal(text) from None


def _faithful(text: str) -> str:
    """``text`` with other white space in the same places, so that libcst gives it all back.

    libcst drops a byte order mark, a last carriage return, and form feeds or a continuation in
    front of a statement. Nothing but white space changes, and no other character moves.
    """
    prefix = _PREFIX.match(text)
    characters = list(text)
    for index in range(prefix.end() if prefix else 0):
        characters[index] = "\n"
    for carriage_return in _LONE_CR.finditer(text):
        characters[carriage_return.start()] = "\n"
    for line in logical_lines(text):
        if text.startswith("\\", line.start):
            characters[line.start] = " "
        elif line.start and text.startswith("\f", line.start):
            newline = line.start - (2 if text.startswith("\r\n", line.start - 2) else 1)
            end = line.end - len(text[line.start : line.end].lstrip("\f"))
            characters[newline:end] = (
                characters[line.start : end] + characters[newline : line.start]
            )
    return "".join(characters)


class _Positions(CodegenState):
    """Writes a module out, as libcst does to get its code, and notes where each node lies.

    libcst's own position providers do the same at four times the cost, for every node.
    """

    def __init__(self, module: cst.Module) -> None:
        super().__init__(module.default_indent, module.default_newline)
        self.spans: dict[cst.CSTNode, tuple[int, int]] = {}
        self._position = 0
        self._starts: list[int] = []
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
        if type(node) not in _BLANK:
            self.spans[node] = (start, self._position)


_BLANK = frozenset({cst.SimpleWhitespace, cst.ParenthesizedWhitespace, cst.Newline})


def _refusal(text: str, message: str = "") -> Unparsable | TooComplex:
    """Why ``text`` cannot be parsed, in CPython's words: libcst lists all it hoped for."""
    lines = LineIndex(text)
    try:
        new_tree(text)
    except SyntaxError as error:
        offset = lines.offset(error.lineno or 1, error.offset or 1)
        return Unparsable(error.msg.partition(" (<unknown>")[0], offset)
    except (MemoryError, RecursionError, ValueError):  # ValueError: a null byte, before 3.12
        position = _LIBCST_POSITION.search(message)
        offset = lines.offset(int(position[1]), int(position[2]) + 1) if position else 0
        return Unparsable("invalid syntax", offset)
    return TooComplex("it is valid Python that nanolint's parser, libcst, does not know")
