"""What a shell works out by itself: ``$((...))`` and the tests of ``if``."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING

from nanolint.source.python import expression_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.launches.commands import Argument

LONGEST = 200  # characters of an expression
_LARGEST = 1 << 63
_OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq,
    "-ne": operator.ne,
    "-lt": operator.lt,
    "-le": operator.le,
    "-gt": operator.gt,
    "-ge": operator.ge,
}


def number(text: str, variable: Callable[[str], str | None]) -> int | None:
    """The value of an expression of whole numbers; None where that cannot be told.

    >>> number("512 / BS", {"BS": "8"}.get)
    64
    """
    if len(text) > LONGEST:
        return None
    try:
        return _evaluate(expression_tree(text.strip().replace("/", "//")), variable)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _evaluate(node: ast.expr, variable: Callable[[str], str | None]) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.Name):
        text = variable(node.id)
        return int(text) if text is not None and text.isdecimal() else None
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _evaluate(node.left, variable), _evaluate(node.right, variable)
    if left is None or right is None:
        return None
    if isinstance(node.op, (ast.FloorDiv, ast.Mod)):
        if left < 0 or right <= 0:  # a shell rounds towards zero, Python downwards
            return None
        return left // right if isinstance(node.op, ast.FloorDiv) else left % right
    operation = _OPERATIONS.get(type(node.op))
    value = operation(left, right) if operation else None
    return value if value is not None and abs(value) < _LARGEST else None


def holds(words: Sequence[Argument]) -> bool | None:
    """Whether ``[ ... ]`` succeeds; None where that cannot be told."""
    if words[0].text == "((":
        return None
    inner = words[1:-1] if words[-1].text in ("]", "]]") else words[1:]
    if any(word.unknown is not None for word in inner):
        return None
    texts = [word.text for word in inner]
    if texts[:1] == ["!"]:
        texts, negated = texts[1:], True
    else:
        negated = False
    found = _simple(texts)
    return None if found is None else found is not negated


def _simple(texts: Sequence[str]) -> bool | None:
    if len(texts) == 2 and texts[0] in ("-n", "-z"):
        return (texts[0] == "-z") is not bool(texts[1])
    if len(texts) != 3:
        return None
    left, test, right = texts
    if test in ("=", "==", "!=") and not set(right) & set("*?["):
        return (left == right) is (test != "!=")
    if test in _COMPARISONS and left.isdecimal() and right.isdecimal():
        return _COMPARISONS[test](int(left), int(right))
    return None
