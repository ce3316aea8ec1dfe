"""Local names, and how long they hold what they hold.

A call's names are let go when it returns, except those that a function defined inside it sees.
"""

from __future__ import annotations

import ast
from enum import Enum
from typing import TYPE_CHECKING

from nanolint.interpreter.certain import certain
from nanolint.source.python import inside, of_node, walked

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.interpreter.values import Function, Namespace, Value

MISSING = object()
Scoped = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Kind(Enum):
    """The kinds of frames."""

    MODULE = "module"
    CLASS = "class body"
    CALL = "call"
    COMPREHENSION = "comprehension"


class Frame:
    """The names of one call, of a class body, of a comprehension or of a module. ``own`` are those
    that the function of a call binds itself, sooner or later, each with its first line."""

    __slots__ = (
        "closure",
        "defines",
        "function",
        "kind",
        "module",
        "names",
        "outer",
        "own",
        "result",
    )

    def __init__(
        self,
        module: Namespace,
        names: dict[str, Value],
        closure: Frame | None = None,
        function: Function | None = None,
        kind: Kind = Kind.CALL,
    ) -> None:
        self.kind = kind
        self.module = module
        self.names = names
        self.closure = closure  # the call that it is written in
        self.function = function
        self.defines = False  # whether a function that sees its names was made
        self.outer = outer_names(function.node) if function else NO_NAMES
        self.own = own_names(function.node) if function else NO_LINES
        self.result: Value = None

    def find(self, name: str) -> Value:
        """Returns the value of ``name`` here or further out; ``MISSING`` if it has none."""
        frame: Frame | None = self
        while frame is not None:
            names = frame.names
            if name in names:
                return names[name]
            if name in frame.own:
                return MISSING
            frame = frame.closure
        return self.module.names.get(name, MISSING)

    def unbound(self, name: str, line: int) -> UnboundLocalError | None:
        """Returns the error of Python on ``line`` for a name that the call binds but has no value
        of yet; None if ``name`` is not one.

        It is certain if the name is bound after that line alone, and outside loops, some of whose
        turns are not read.
        """
        frame: Frame | None = self
        while frame is not None and name not in frame.own:
            frame = frame.closure
        if frame is None or frame.function is None:
            return None
        error = UnboundLocalError(
            f"cannot access local variable '{name}' where it is not associated with a value"
        )
        node = frame.function.node
        is_first = frame is self and line <= frame.own[name] and not is_in_loop(node, line)
        return certain(error) if is_first else error

    def store(self, name: str, value: Value) -> None:
        """Binds a name; one that is declared global or nonlocal in the scope that it belongs to."""
        kind = self.outer.get(name)
        if kind is None:
            self.names[name] = value
        elif kind == "global":
            self.module.names[name] = value
        else:
            frame = self.closure
            while frame is not None and name not in frame.names:
                frame = frame.closure
            (frame or self).names[name] = value

    def leave(self) -> None:
        """The call returns: only what functions made in it see is held on."""
        if self.defines and self.function is not None:
            seen = seen_inside(self.function.node)
            for name in [each for each in self.names if each not in seen]:
                del self.names[name]
        else:
            self.names.clear()


NO_NAMES: dict[str, str] = {}
NO_LINES: dict[str, int] = {}


@of_node
def outer_names(node: Scoped) -> dict[str, str]:
    """The names that a function declares ``global`` or ``nonlocal``."""
    if isinstance(node, ast.Lambda):
        return NO_NAMES
    found: dict[str, str] = {}
    unseen: list[ast.AST] = list(node.body)
    while unseen:
        each = unseen.pop()
        if isinstance(each, ast.Global):
            found |= dict.fromkeys(each.names, "global")
        elif isinstance(each, ast.Nonlocal):
            found |= dict.fromkeys(each.names, "nonlocal")
        elif not isinstance(each, (Scoped, ast.ClassDef, ast.expr)):
            unseen += inside(each)
    return found


@of_node
def own_names(node: Scoped) -> dict[str, int]:
    """The names that a function binds in its own calls, and the lines on which each is bound first;
    0 for its parameters."""
    spec = node.args
    given = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg]
    found = dict.fromkeys([each.arg for each in given if each is not None], 0)
    unseen: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
    while unseen:
        each = unseen.pop()
        line = getattr(each, "lineno", 0)
        for name in _bound_by(each):
            found[name] = min(found.get(name, line), line)
        if isinstance(each, ast.comprehension):
            unseen += [each.iter, *each.ifs]  # its targets are its own
        elif not isinstance(each, (Scoped, ast.ClassDef)):
            unseen += inside(each)
    for name in outer_names(node):
        found.pop(name, None)
    return found


def _bound_by(node: ast.AST) -> Iterable[str]:
    """The names that one node binds, without those inside it."""
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, ast.alias):
        return [(node.asname or node.name).partition(".")[0]]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return [node.name] if node.name else []
    if isinstance(node, ast.MatchMapping):
        return [node.rest] if node.rest else []
    return []


def is_in_loop(node: Scoped, line: int) -> bool:
    """Whether a line of a function lies in one of its loops."""
    return any(
        isinstance(each, (ast.For, ast.AsyncFor, ast.While))
        and each.lineno <= line <= (each.end_lineno or each.lineno)
        for each in walked(node)
    )


@of_node
def seen_inside(node: Scoped) -> frozenset[str]:
    """Every name that a function or class written inside ``node`` mentions."""
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    found: set[str] = set()
    for each in body:
        for part in walked(each):
            if isinstance(part, (Scoped, ast.ClassDef)):
                found |= {name.id for name in walked(part) if isinstance(name, ast.Name)}
    return frozenset(found) | {"__class__"}


@of_node
def generates(node: Scoped) -> bool:
    """Whether a function yields."""
    unseen: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    while unseen:
        each = unseen.pop()
        if isinstance(each, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(each, (Scoped, ast.ClassDef)):
            unseen += inside(each)
    return False
