"""``del logits`` after each call of the model whose logits nobody reads."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nanolint.verdict.ways.edited import Edit, Scope, edited, scopes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.run.program import ReadScript
    from nanolint.verdict.ways.edited import Text

# What is done with a loss, beside a backward pass.
MEASURED = frozenset({"item", "detach", "backward", "mean", "float", "cpu"})


class Deleted(NamedTuple):
    """The program, the names that it deletes, and the paths of the modules that do."""

    program: ReadScript
    names: tuple[str, ...]
    paths: tuple[str, ...]


def logits_deleted(program: ReadScript) -> Deleted | None:
    """``program`` with what the model gives beside the loss deleted where it was given."""
    deleted: dict[str, None] = {}

    def edits(text: Text) -> Iterator[Edit]:
        for scope in scopes(text.tree):
            for statement, names in _unread(scope):
                deleted.update(dict.fromkeys(names))
                end = text.span(statement).end
                yield Edit(end, end, f"; del {', '.join(names)}")

    found = edited(program, edits)
    return None if found is None else Deleted(found.program, tuple(deleted), found.paths)


def _unread(scope: Scope) -> Iterator[tuple[ast.Assign, list[str]]]:
    """The calls of a model in a scope, and their results that only take up memory."""
    losses = _losses(scope)
    for statement in scope.nodes:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
            continue
        names = _results(statement)
        if len(names) < 2 or not losses.intersection(names):
            continue
        others = [each for each in dict.fromkeys(names) if each not in losses]
        if unread := [each for each in others if scope.is_unread(each, statement)]:
            yield statement, unread


def _results(statement: ast.Assign) -> list[str]:
    """The names of a tuple that is assigned to."""
    target = statement.targets[0]
    if len(statement.targets) != 1 or not isinstance(target, (ast.Tuple, ast.List)):
        return []
    names = [each.id for each in target.elts if isinstance(each, ast.Name)]
    return names if len(names) == len(target.elts) else []


def _losses(scope: Scope) -> frozenset[str]:
    """The names of which a backward pass begins, or a number is taken."""
    found: set[str] = set()
    for call in scope.nodes:
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        of = call.func.value
        if call.func.attr == "backward":
            parts = [of, *call.args]
            found |= {
                each.id for part in parts for each in ast.walk(part) if isinstance(each, ast.Name)
            }
        elif call.func.attr in MEASURED and isinstance(of, ast.Name):
            found.add(of.id)
    return frozenset(found)
