"""Where a script touches environment variables by their names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nanolint.rule import Span
from nanolint_rules.torch._plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.rule import Context
    from nanolint_rules.torch._plain import Plain

ENVIRONMENT = "os.environ"
FUNCTIONS = {"os.putenv": True, "os.getenv": False}  # whether they write
METHODS = {"setdefault": True, "get": False, "pop": False}


class Access(NamedTuple):
    """A variable, where its name stands, and whether it may be given a value there."""

    variable: str
    span: Span
    writes: bool


def accesses(context: Context) -> list[Access]:
    """Every use of a variable whose name is a plain string, in the order of the text.

    Names that mean something else anywhere in the file are passed over.
    """
    text = plain(context.text)
    found = (
        Access(name.value, span, writes)
        for node in text.nodes
        for name, writes in _names_in(node, text)
        if isinstance(name, ast.Constant) and isinstance(name.value, str)
        if (span := _span(context, name)) is not None
    )
    return sorted(found, key=lambda access: access.span)


def _names_in(node: ast.AST, text: Plain) -> Iterator[tuple[ast.expr, bool]]:
    """The names of variables that a node itself touches, and whether it may write them."""
    if isinstance(node, ast.Subscript):
        if text.means(node.value, ENVIRONMENT):
            yield node.slice, isinstance(node.ctx, ast.Store)
    elif isinstance(node, ast.Call) and node.args:
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if isinstance(node.func, ast.Attribute) and text.means(node.func.value, ENVIRONMENT):
            if method in METHODS:
                yield node.args[0], METHODS[method]
        else:
            for function, writes in FUNCTIONS.items():
                if text.means(node.func, function):
                    yield node.args[0], writes
    elif isinstance(node, ast.Compare) and text.means(node.comparators[0], ENVIRONMENT):
        yield node.left, False


def _span(context: Context, name: ast.Constant) -> Span | None:
    """Where a string stands; None where it is put together of several."""
    offsets = [
        context.lines.offset(row, 1 + len(_line(context, row)[:column].decode(errors="replace")))
        for row, column in (
            (name.lineno, name.col_offset),
            (name.end_lineno or name.lineno, name.end_col_offset or name.col_offset),
        )
    ]
    span = Span(*offsets)
    written = context.text[span.start : span.end]
    return span if str(name.value) in written else None


def _line(context: Context, row: int) -> bytes:
    start = context.lines.offset(row, 1)
    return context.text[start : context.lines.offset(row + 1, 1)].encode(errors="replace")
