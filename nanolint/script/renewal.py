"""Tables that a model makes anew if they are empty: read as a model that has them.

transformers makes models without memory first, which loses what ``__init__`` put into buffers, so
models look at their rotary tables in ``forward`` and make them again. What they make is as large
as what they drop, and the next time it is not empty.
"""

from __future__ import annotations

import ast


def makes_anew(node: ast.If) -> bool:
    """Whether a branch fills the attributes whose contents it was asked to be nothing.

    >>> text = "if self.cos[0, 0] == 0:\\n    self.cos, self.sin = table(self.size)"
    >>> makes_anew(ast.parse(text).body[0])
    True
    """
    test = node.test
    if not isinstance(test, ast.Compare) or node.orelse:
        return False
    match test.ops, test.comparators:
        case [ast.Eq()], [ast.Constant(value=0 | 0.0)]:
            parts = (each for each in ast.walk(test.left) if isinstance(each, ast.Attribute))
            return not _filled(node).isdisjoint(map(ast.unparse, parts))
    return False


def _filled(node: ast.If) -> set[str]:
    """The attributes that the statements of a branch set."""
    return {
        ast.unparse(each)
        for statement in node.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        for each in ast.walk(target)
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
    }
