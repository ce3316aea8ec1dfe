"""Blocks through torch.utils.checkpoint: ``x = block(x)`` of a loop over a model's own modules."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.source.python import nodes
from nanolint.verdict.ways.edited import Edit, Edited, added, edited, imported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.run.program import ReadScript
    from nanolint.verdict.ways.edited import Text

MODULE = "torch.utils.checkpoint"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def blocks_checkpointed(program: ReadScript) -> Edited | None:
    """``program`` whose blocks' activations are made again by the backward pass."""
    return edited(program, _edits)


def _edits(text: Text) -> Iterator[Edit]:
    brings = imported(text, MODULE)
    calls = list(dict.fromkeys(_calls(text)))
    if brings is None or not calls:
        return
    yield brings
    for call in calls:
        function = text.span(call.func)
        opening = text.between(function.end, text.span(call).end).index("(")
        name = text.of(call.func)
        yield Edit(function.start, function.end + opening + 1, f"{MODULE}.checkpoint({name}, ")
        yield added(text, call, "use_reentrant=False")


def _calls(text: Text) -> Iterator[ast.Call]:
    for kind in nodes(text.tree):
        if not isinstance(kind, ast.ClassDef):
            continue
        for function in ast.walk(kind):
            if isinstance(function, FUNCTIONS) and function.args.args:
                yield from _calls_of(text, function, function.args.args[0].arg)


def _calls_of(text: Text, function: ast.AST, own: str) -> Iterator[ast.Call]:
    """The calls of its own modules in the loops of a method."""
    for loop in ast.walk(function):
        if not isinstance(loop, ast.For):
            continue
        turned = _names(loop.target)
        modules = turned if own in _names(loop.iter) else frozenset()
        for statement in (each for part in loop.body for each in ast.walk(part)):
            call = statement.value if isinstance(statement, ast.Assign) else None
            if not isinstance(call, ast.Call) or not call.args or _has_stars(call):
                continue
            if text.span(call).start != text.span(call.func).start:
                continue
            if _is_module(call.func, modules) or _is_indexed(call.func, own, turned):
                yield call


def _has_stars(call: ast.Call) -> bool:
    """``f(*x)``, of which nobody knows how many it is given."""
    return any(isinstance(each, ast.Starred) for each in call.args) or any(
        each.arg is None or each.arg == "use_reentrant" for each in call.keywords
    )


def _is_module(function: ast.expr, modules: frozenset[str]) -> bool:
    return isinstance(function, ast.Name) and function.id in modules


def _is_indexed(function: ast.expr, own: str, turned: frozenset[str]) -> bool:
    """``self.blocks[i]``."""
    if not isinstance(function, ast.Subscript) or not isinstance(function.slice, ast.Name):
        return False
    return function.slice.id in turned and own in _names(function.value)


def _names(node: ast.AST) -> frozenset[str]:
    return frozenset(each.id for each in ast.walk(node) if isinstance(each, ast.Name))
