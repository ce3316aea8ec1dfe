"""Names that values follow from, by the text alone: ``due`` follows from ``best`` and ``step``.

A name stands for itself, ``.name`` for an attribute of whatever object, ``[name`` for an entry of
whatever dictionary. A function, by its name, stands for what it returns.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nanolint.script.changes import may_change
from nanolint.source.python import nodes, of_node

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Names = frozenset[str]
NONE: Names = frozenset()
CHOICES = (ast.If, ast.While, ast.IfExp)
IMPLIED = frozenset({"forward", *(f"__{each}__" for each in ("call", "iter", "next", "getitem"))})
PUTS = frozenset({"append", "appendleft", "add", "insert", "extend", "update", "setdefault"})
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Flows(NamedTuple):
    """For each name those that it follows from, for each function those that it sets for longer
    than its call, and the names that only some turns of a loop may set."""

    follows: dict[str, Names]
    writes: dict[str, Names]
    branched: Names


def named(node: ast.AST) -> Names:
    """The names that a single node has itself."""
    if isinstance(node, ast.Name):
        return frozenset((node.id,))
    if isinstance(node, ast.Attribute):
        return frozenset((f".{node.attr}",))
    if isinstance(node, ast.Subscript):
        return named(node.value) | _entry(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return frozenset((f"[{node.value}",))
    return NONE


def _entry(node: ast.AST) -> Names:
    """The same, without the dictionary that has an entry."""
    if isinstance(node, ast.Subscript):
        return named(node.slice) if _is_text(node.slice) else NONE
    return named(node)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


@of_node
def asked(node: ast.AST) -> Names:
    """All that is named in it; of ``state["best"]`` the entry alone."""
    found = nodes(node)
    entries = (each for each in found if isinstance(each, ast.Subscript))
    owners = {id(each.value) for each in entries if _is_text(each.slice)}
    return frozenset().union(*(_entry(each) for each in found if id(each) not in owners))


@of_node
def tested(node: ast.AST) -> Names:
    """The names in the conditions of a statement."""
    found = set[str]()
    for each in nodes(node):
        if isinstance(each, CHOICES):
            found |= asked(each.test)
        elif isinstance(each, ast.BoolOp):
            found |= asked(each)
        elif isinstance(each, ast.comprehension):
            found = found.union(*map(asked, each.ifs))
        elif isinstance(each, ast.Match):
            found |= asked(each.subject)
    return frozenset(found)


@of_node
def written(node: ast.AST) -> Names:
    """The names that it sets, or may change in place."""
    found = set[str]()
    for each in nodes(node):
        if isinstance(each, (ast.Name, ast.Attribute, ast.Subscript)):
            if not isinstance(each.ctx, ast.Load):
                found |= named(each)
        elif isinstance(each, ast.Call) and may_change(each.func):
            found |= named(each.func.value)
    return frozenset(found)


@of_node
def calls(node: ast.AST) -> Names:
    """The functions and methods that it calls, by their names."""
    called = (each.func for each in nodes(node) if isinstance(each, ast.Call))
    return frozenset().union(*map(named, called))


def around(loop: ast.AST, trees: Iterable[ast.Module]) -> Flows:
    """Those of a loop, and of the functions that its turns may call."""
    defined = [each for tree in trees for each in nodes(tree) if isinstance(each, FUNCTIONS)]
    unseen = [each for each in defined if loop not in nodes(each)]
    mentioned, parts = asked(loop) | IMPLIED, [flows(loop)]
    while True:
        called = [each for each in unseen if not mentioned.isdisjoint(_both(each.name))]
        if not called:
            break
        parts += map(flows, called)
        mentioned = mentioned.union(*map(asked, called))
        unseen = [each for each in unseen if each not in called]
    follows, writes = _together(each.follows for each in parts), _together(e.writes for e in parts)
    return Flows(follows, writes, NONE.union(*(each.branched for each in parts)))


def _together(maps: Iterable[Mapping[str, Names]]) -> dict[str, Names]:
    found: dict[str, Names] = {}
    for each in maps:
        for name, names in each.items():
            found[name] = found.get(name, NONE) | names
    return found


@of_node
def flows(node: ast.AST) -> Flows:
    """Those of a function, or of a loop."""
    follows: dict[str, Names] = {}
    writes: dict[str, Names] = {}
    branched = set[str]()

    def add(targets: Names, of: Names) -> None:
        for name in targets:
            follows[name] = follows.get(name, NONE) | of

    for each in nodes(node):
        if isinstance(each, ast.Assign):
            for target in each.targets:
                add(written(target), asked(each.value))
        elif isinstance(each, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
            if each.value is not None:
                add(written(each.target), asked(each.value))
        elif isinstance(each, ast.For):
            add(written(each.target), asked(each.iter))
        elif isinstance(each, (ast.If, ast.While)):
            stored = written(each)
            add(stored, asked(each.test))
            if isinstance(each, ast.If):
                branched |= stored
        elif isinstance(each, FUNCTIONS):
            returned = (e.value for e in nodes(each) if isinstance(e, ast.Return) and e.value)
            add(_both(each.name), tested(each).union(*map(asked, returned)))
            for name in _both(each.name):
                writes[name] = writes.get(name, NONE) | _outliving(each)
        elif isinstance(each, ast.Call) and may_change(each.func) and each.func.attr in PUTS:
            add(named(each.func.value), frozenset().union(*map(asked, each.args)))
    return Flows(follows, writes, frozenset(branched))


def closed(names: Iterable[str], follows: Mapping[str, Names]) -> set[str]:
    """The names, and all that they follow from."""
    found, unseen = set[str](), list(names)
    while unseen:
        name = unseen.pop()
        if name not in found:
            found.add(name)
            unseen += follows.get(name, ())
    return found


def _both(name: str) -> Names:
    """A function by its name, and as a method."""
    return frozenset((name, f".{name}"))


def _outliving(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Names:
    """The names that a function sets, except its own; and, after ``(``, those that it calls."""
    own, shared = set[str](), set[str]()
    for each in nodes(function):
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
            own.add(each.id)
        elif isinstance(each, (ast.Global, ast.Nonlocal)):
            shared.update(each.names)
    called = (f"({name}" for name in calls(function))
    return (written(function) - (own - shared)).union(called)
