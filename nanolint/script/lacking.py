"""Facts that the text of a script shows of its names: keys never set, constants."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanolint.interpreter.interpreter import parsed
from nanolint.regex import lazily

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.interpreter.values import Value

_CONSTANT = lazily(r"""-?[\d_.]+(?:e-?\d+)?|True|False|None|'\w*'|"\w*\"""")


def never_set(texts: Iterable[str], name: str, key: Value, *, is_global: bool) -> bool:
    """Whether the dictionary ``name`` is written out whole wherever it is bound, and none of
    ``texts`` could put ``key`` into one of that name: ``config = {k: globals()[k] for k in keys}``.
    An argument of that name is another dictionary if ``is_global``, and so is what a function
    binds to it. A dictionary that a function returns is written out there.
    """
    nodes = [each for tree in map(parsed, texts) if tree is not None for each in ast.walk(tree)]
    functions = [each for each in nodes if isinstance(each, ast.FunctionDef)]
    if is_global:
        local = {each for one in functions if _is_local(one, name) for each in ast.walk(one)}
        nodes = [each for each in nodes if each not in local]
    return _lacks(nodes, name, key, functions, is_global=is_global)


def are_constants(text: str, names: set[str]) -> bool:
    """Whether a script gives constants alone to each of ``names``, as in ``n_head = 12`` and
    ``dict(n_head=n_head)``; none is an argument of a function."""
    for name in names:
        ends = rf"\b{name}['\"]?\]?(?:\s*,\s*\w+)*\s*[=:](?!=)([^,;)}}#\n]*)"
        given = {each.strip() for each in re.findall(ends, text)} - {name}
        taken = rf"\bdef \w+\([^)]*\b{name}\b|\blambda [^:]*\b{name}\b"
        if not given or re.search(taken, text) or not all(map(_CONSTANT.fullmatch, given)):
            return False
    return bool(names)


def _lacks(
    nodes: Iterable[ast.AST],
    name: str,
    key: Value,
    functions: list[ast.FunctionDef],
    *,
    is_global: bool,
) -> bool:
    bound = [each for each in nodes if _binds(each, name)]
    return (
        bool(bound)
        and all(_is_written_out(each) or _is_returned(each, key, functions) for each in bound)
        and not any(_may_set(each, name, key, is_global=is_global) for each in nodes)
    )


def _is_local(function: ast.FunctionDef, name: str) -> bool:
    nodes = list(ast.walk(function))
    declared = (each.names for each in nodes if isinstance(each, (ast.Global, ast.Nonlocal)))
    return any(_binds(each, name) for each in nodes) and not any(name in each for each in declared)


def _is_returned(node: ast.AST, key: Value, functions: list[ast.FunctionDef]) -> bool:
    """Whether it binds the result of a function that returns a dictionary of its own without
    ``key``, which it hands to nobody else."""
    call = getattr(node, "value", None)
    called = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
    found = [each for each in functions if each.name == called]
    within = [each for one in found for each in ast.walk(one)]
    names = {ast.unparse(each) for each in within if isinstance(each, ast.Return)}
    name = "".join(names).removeprefix("return ")
    given = [one for each in within if isinstance(each, ast.Call) for one in each.args]
    return (
        len(found) == len(names) == 1
        and name not in map(ast.unparse, given)
        and _lacks(within, name, key, [], is_global=False)
    )


def _binds(node: ast.AST, name: str) -> bool:
    """Whether a node gives a name a value, at whatever place."""
    if isinstance(node, (ast.Assign, ast.Delete)):
        return any(ast.unparse(each) == name for each in node.targets)
    if isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        return ast.unparse(node.target) == name
    return False


def _is_written_out(node: ast.AST) -> bool:
    value = getattr(node, "value", None)
    return isinstance(value, ast.DictComp) or (
        isinstance(value, ast.Dict) and None not in value.keys
    )


def _may_set(node: ast.AST, name: str, key: Value, *, is_global: bool) -> bool:
    if isinstance(node, ast.arg):
        return node.arg == name and not is_global
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return any((each.asname or each.name) == name for each in node.names)
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store):
        return any(ast.unparse(each) == name for each in node.elts)
    if isinstance(node, (ast.For, ast.comprehension, ast.AugAssign)):
        return ast.unparse(node.target) == name
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        if isinstance(node.slice, ast.Constant):
            return bool(node.slice.value == key)
        return ast.unparse(node.value) == name
    return (
        isinstance(node, ast.Attribute)
        and node.attr in ("update", "setdefault")
        and ast.unparse(node.value) == name
    )
