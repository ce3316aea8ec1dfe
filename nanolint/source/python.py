"""Python's own tree of a text, parsed once for all who ask."""

from __future__ import annotations

import ast
import warnings
from functools import lru_cache


@lru_cache(maxsize=16)  # a script, what it imports, and our own texts beside them
def python_tree(text: str) -> ast.Module:
    """The tree of ``text``, for nobody to change. Raises what ``ast.parse`` raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes are the author's business
        return ast.parse(text)


@lru_cache(maxsize=32)  # of those, and of their loops
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """``walked``, once for a tree that nobody changes; a dozen questions look for some."""
    return tuple(walked(tree))


def walked(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a tree, outermost first, but for the contexts of names.

    As ``ast.walk`` has them, in half the time.
    """
    found = [tree]
    for node in found:  # which grows
        found += inside(node)
    return found


def inside(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, as ``ast.iter_child_nodes`` has them, without such contexts."""
    found: list[ast.AST] = []
    if isinstance(node, (ast.Name, ast.Constant)):  # as half of them are
        return found
    for field in node._fields:
        if field == "ctx":
            continue
        value = getattr(node, field, None)
        if isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def statements(tree: ast.Module) -> list[ast.AST]:
    """All statements of a module, and what has some in it, without a look at expressions."""
    found: list[ast.AST] = [tree]
    for each in found:  # which grows
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            found += getattr(each, name, ())
    return found[1:]
