"""``del logits`` after a call of the model: the statement that a train.py may add to nanoGPT's."""

from __future__ import annotations

import ast
import copy


def without_deletions(statements: list[ast.stmt]) -> tuple[list[ast.stmt], bool]:
    """The statements without those that delete what the model returned first, and whether all such
    results are deleted.

    ``del logits`` counts right below ``logits, loss = model(X, Y)``, or below the ``with`` that
    the call stands in.
    """
    kept, calls, deleted = _block(statements)
    return kept, calls == deleted > 0


def _block(statements: list[ast.stmt]) -> tuple[list[ast.stmt], int, int]:
    """The block without its deletions, the calls of the model in it, and the deletions."""
    kept: list[ast.stmt] = []
    calls = deleted = 0
    names: set[str] = set()  # that the statement above gave the model's first results
    for statement in statements:
        if isinstance(statement, ast.Delete) and _deletes_one_of(statement, names):
            deleted += 1
            names = set()
            continue
        names = _results(statement)
        calls += len(names) if isinstance(statement, ast.Assign) else 0
        body = getattr(statement, "body", None)
        if isinstance(body, list):
            statement = copy.copy(statement)
            inner, inner_calls, inner_deleted = _block(body)
            statement.body = inner  # type: ignore[attr-defined]
            calls, deleted = calls + inner_calls, deleted + inner_deleted
            names = names if inner_deleted == 0 else set()
        kept.append(statement)
    return kept, calls, deleted


def _results(statement: ast.stmt) -> set[str]:
    """The names that hold what the model returned first, once ``statement`` is done."""
    if isinstance(statement, ast.With):
        return {name for inner in statement.body for name in _results(inner)}
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return set()
    called, target = statement.value.func, statement.targets[0]
    if not isinstance(called, ast.Name) or called.id != "model":
        return set()
    if not isinstance(target, ast.Tuple) or not isinstance(target.elts[0], ast.Name):
        return set()
    return {target.elts[0].id}


def _deletes_one_of(statement: ast.Delete, names: set[str]) -> bool:
    target = statement.targets[0]
    return len(statement.targets) == 1 and isinstance(target, ast.Name) and target.id in names
