"""Edit builders: replace an integer in the shape it was written in, insert an assignment."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanolint.diagnostics import Edit
from nanolint.regex import lazily
from nanolint.source.python import expression_tree
from nanolint.source.values import Known

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.source.assignments import Assignment, Comment, Factor

_NEWLINE = lazily(r"(\r\n|\r|\n)")
_BLANK = " \t\f\\"
_ARITHMETIC = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Call, ast.Load)


def replace_integer(
    assignment: Assignment, new: int, comments: Iterable[Comment] = (), *, keep: int | None = None
) -> Edit:
    """Make ``assignment`` yield ``new``, changing one factor of a product where that suffices.

    ``5 * 8`` asked for 160 becomes ``20 * 8``. A factor equal to ``keep`` (the world size) is
    changed only when no other can absorb the change. The value must be a known integer. Those of
    ``comments`` that stand inside the expression stay there.
    """
    if not isinstance(assignment.value, Known) or not isinstance(assignment.value.value, int):
        raise ValueError(f"{assignment.key} is not a known integer")
    old = assignment.value.value
    literals = [factor for factor in assignment.factors if factor.value]
    kept = next((factor for factor in reversed(literals) if factor.value == keep), None)
    for factor in sorted(literals, key=lambda factor: factor is kept):
        scaled = _scale(factor, old, new)
        if scaled is not None:
            start, end = factor.span.start, factor.span.end
            at = assignment.value_span.start
            literal = _like(assignment.expression[start - at : end - at], scaled)
            return Edit(start, end, literal)
    return replace_value(assignment, str(new), comments)


def keeps_shape(assignment: Assignment, edit: Edit) -> bool:
    """Whether ``edit`` leaves something of the expression: it changes one factor of a product."""
    span = assignment.value_span
    return span.start < edit.start or edit.end < span.end


def is_arithmetic(assignment: Assignment) -> bool:
    """Whether the expression is made of literals alone: ``512 // 32``, and no name or choice.

    One value in its place then loses nothing that could come out otherwise another day.
    """
    try:
        tree = expression_tree(f"({assignment.expression}\n)")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(
        isinstance(node, _ARITHMETIC) or (isinstance(node, ast.Name) and node.id == "int")
        for node in ast.walk(tree)
    )


def _scale(factor: Factor, old: int, new: int) -> int | None:
    """What ``factor`` becomes when it alone takes the product from ``old`` to ``new``."""
    if not factor.value or not old or (new * factor.value) % old:
        return None
    return new * factor.value // old


def _like(written: str, value: int) -> str:
    """``value`` as a literal, grouped with underscores when the one ``written`` was."""
    return f"{value:_}" if "_" in written else str(value)


def replace_value(assignment: Assignment, literal: str, comments: Iterable[Comment] = ()) -> Edit:
    """Replace the whole expression of ``assignment``, parentheses included, but for comments."""
    span = assignment.value_span
    inside = [c for c in comments if span.start <= c.span.start and c.span.end <= span.end]
    text = _around(assignment, literal, inside) if inside else literal
    return Edit(span.start, span.end, text)


def _around(assignment: Assignment, literal: str, comments: Iterable[Comment]) -> str:
    """``literal`` in parentheses, with the comments where they were and all other code gone."""
    code, start = assignment.expression, assignment.value_span.start
    position = int(code.startswith("("))
    pieces, pending = ["("], literal
    for comment in sorted(comments, key=lambda comment: comment.span):
        *lines, last = _NEWLINE.split(code[position : comment.span.start - start])
        for line, newline in zip(lines[::2], lines[1::2], strict=True):
            if pending and line.strip(_BLANK):
                pieces.append(line[: len(line) - len(line.lstrip(_BLANK))] + pending)
                pending = ""
            pieces.append(newline if pieces[-1][-1:] not in "\r\n" else "")
        body = last.strip(_BLANK)
        indentation, gap = last[: len(last) - len(last.lstrip(_BLANK))], ""
        if pending and body:
            gap, pending = pending + last[len(last.rstrip(_BLANK)) :], ""
        pieces += (indentation, gap, comment.text)
        position = comment.span.end - start
    newline = _NEWLINE.search(code, position)
    assert newline is not None  # a comment ends with its line, and a bracket is still open
    if pending:
        rest = code[newline.end() :].removesuffix(")")
        pending = rest[: len(rest) - len(rest.lstrip())] + pending + rest[len(rest.rstrip()) :]
    return f"{''.join(pieces)}{newline[0]}{pending})"


def insert_assignment(text: str, after: Assignment, key: str, literal: str) -> Edit:
    """Insert ``key = literal`` on a line of its own below ``after``.

    The new line copies the spacing around ``=`` and the newline of its partner, and the file
    keeps its missing final newline.
    """
    end = _line_end(text, after.statement.end)
    between = text[after.key_span.end : after.value_span.start]
    equals = between if re.fullmatch(r"[ \t]*=[ \t]*", between) else " = "
    if equals.strip(" \t") != "=" or len(equals) > 3:
        equals = " = "  # a partner aligned in a column says nothing about a shorter key
    newline = _newline_near(text, end)
    return Edit(end, end, f"{newline}{key}{equals}{literal}")


def _line_end(text: str, offset: int) -> int:
    """The offset of the newline (or of the end of the text) that ends the physical line."""
    ends = [position for newline in "\r\n" if (position := text.find(newline, offset)) >= 0]
    return min(ends, default=len(text))


def _newline_near(text: str, end: int) -> str:
    """The newline at ``end``, or the file's first one, or ``\\n``."""
    for offset in (end, _line_end(text, 0)):
        if text.startswith("\r\n", offset):
            return "\r\n"
        if text[offset : offset + 1] in ("\r", "\n"):
            return text[offset]
    return "\n"
