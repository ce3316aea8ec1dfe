"""Which keys a train.py lets be any text: the last branch of its choice takes what is left."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.source.python import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ENDS = frozenset({"exit", "_exit", "quit"})


def open_choices(tree: ast.Module) -> frozenset[str]:
    """The names that an ``if`` chain of ``tree`` compares with texts and whose ``else`` goes on.

    A name by which a dictionary is asked, ``{...}[dtype]``, is none of them.

    >>> open_choices(ast.parse("if m == 'a': f()\\nelse: g(m)"))
    frozenset({'m'})
    """
    found = {name for node in nodes(tree) for name in _open(node)}
    looked_up = {
        node.slice.id
        for node in nodes(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Dict)
        and isinstance(node.slice, ast.Name)
    }
    return frozenset(found - looked_up)


def _open(node: ast.AST) -> Iterator[str]:
    """The names that the last link of a chain compares, where its ``else`` goes on."""
    if not isinstance(node, ast.If) or not node.orelse:
        return
    if not _is_link(node.orelse) and not _ends(node.orelse):
        yield from _compared(node.test)


def _is_link(branch: Sequence[ast.stmt]) -> bool:
    """Whether an ``else`` is an ``elif``: then the last link of the chain decides."""
    return len(branch) == 1 and isinstance(branch[0], ast.If)


def _ends(branch: Sequence[ast.stmt]) -> bool:
    """Whether a branch ends the run."""
    last = branch[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        function = last.value.func
        name = function.attr if isinstance(function, ast.Attribute) else ""
        return (function.id if isinstance(function, ast.Name) else name) in ENDS
    return isinstance(last, (ast.Raise, ast.Assert))


def _compared(test: ast.expr) -> Iterator[str]:
    """The names that ``test`` compares with texts: by ``==``, ``in`` or ``startswith``."""
    for node in ast.walk(test):
        name: ast.expr | None = None
        if isinstance(node, ast.Compare) and any(map(_holds_text, node.comparators)):
            name = node.left
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.value if node.func.attr == "startswith" else None
        if isinstance(name, ast.Name):
            yield name.id


def _holds_text(node: ast.expr) -> bool:
    return any(
        isinstance(each, ast.Constant) and isinstance(each.value, str) for each in ast.walk(node)
    )
