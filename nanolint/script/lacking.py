"""What the texts of a script show of its names: keys that are never set, names of constants."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.interpreter.interpreter import parsed

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from nanolint.interpreter.values import Value


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


def are_constants(texts: Iterable[str], test: ast.expr, executed: Container[int]) -> bool:
    """Whether a test compares nothing but what ``texts`` give constants alone wherever they give a
    name of it a value, such as ``config.n_head`` with ``n_head = 12``: nothing else decides it."""
    asked = list(ast.walk(test))
    owners = {id(each.value) for each in asked if isinstance(each, ast.Attribute)}
    of_names = (each for each in asked if isinstance(each, (ast.Name, ast.Attribute)))
    names = {_last(each) for each in of_names if id(each) not in owners}
    trees = [each for each in map(parsed, texts) if each is not None]
    given = [pair for tree in trees for pair in _given(tree, executed) if pair[0] in names]
    plain = {name for name, value in given if isinstance(value, ast.Constant)}
    return names == plain and all(
        isinstance(value, ast.Constant) or (value is not None and _last(value) == name)
        for name, value in given
    )


def _given(tree: ast.Module, executed: Container[int]) -> Iterator[tuple[str, ast.expr | None]]:
    """The names that get a value, with the value where it stands beside, but for those of functions
    that were not ``executed``."""
    is_known = any(id(each) in executed for each in tree.body)
    nodes: list[ast.AST] = [tree]
    beside: set[ast.AST] = set()
    for node in nodes:  # as they grow
        if is_known and isinstance(node, ast.FunctionDef) and id(node.body[0]) not in executed:
            continue
        nodes += ast.iter_child_nodes(node)
        if isinstance(getattr(node, "ctx", None), ast.Store) and node not in beside:
            yield _last(node), None
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            beside |= {*targets}
            yield from ((_last(each), node.value) for each in targets)
        elif isinstance(node, ast.keyword):
            yield node.arg or "", node.value
        elif isinstance(node, ast.Dict):
            yield from ((_last(k), v) for k, v in zip(node.keys, node.values, strict=True) if k)


def _last(node: ast.AST) -> str:
    """The name, or the last of ``a.b.name`` and ``a["name"]``; empty for what has none."""
    if isinstance(node, ast.Subscript):
        node = node.slice
    found = (getattr(node, each, "") for each in ("id", "attr", "value"))
    return next((each for each in found if each and isinstance(each, str)), "")


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
    if isinstance(node, (ast.For, ast.comprehension)):
        return ast.unparse(node.target) == name
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        if isinstance(node.slice, ast.Constant):
            return bool(node.slice.value == key)
        return ast.unparse(node.value) == name
    if isinstance(node, ast.AugAssign):
        return ast.unparse(node.target) == name
    return (
        isinstance(node, ast.Attribute)
        and node.attr in ("update", "setdefault")
        and ast.unparse(node.value) == name
    )
