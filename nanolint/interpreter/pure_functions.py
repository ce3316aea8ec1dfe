"""Whether a function does the same each time that it is given the same, and changes nothing else.

What it may not have: names and attributes that it sets outside of itself, methods that change what
they are called on, operations in place, and names of the module that have no fixed value.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, NamedTuple

from nanolint.interpreter.module_signature import PLAIN
from nanolint.interpreter.values import Class, Function, Namespace, Native
from nanolint.source.python import of_node

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.interpreter.scopes import Scoped
    from nanolint.interpreter.values import Value

# Methods that change their object or make tensors of their own for later; names that reach further
# than their arguments.
_CHANGING = frozenset(
    {
        *("append", "appendleft", "extend", "insert", "pop", "popitem", "popleft", "remove"),
        *("clear", "update", "setdefault", "add", "discard", "sort", "reverse", "write", "put"),
        *("register_buffer", "register_parameter", "register_hook", "register_forward_hook"),
        *("add_module", "apply", "backward", "checkpoint", "checkpoint_sequential", "train"),
        *("eval", "to_empty", "half", "bfloat16", "double", "requires_grad", "retain_grad"),
    }
)
_REACHING = frozenset(
    {
        *("setattr", "delattr", "exec", "eval", "globals", "vars", "locals", "next", "open"),
        *("checkpoint", "checkpoint_sequential", "input", "__import__"),
    }
)
_WRITTEN = (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.AugAssign)
_BEYOND = (*_WRITTEN, ast.Delete, ast.Import, ast.ImportFrom, ast.ClassDef, ast.Try)


class _Body(NamedTuple):
    """``free`` are the names that a function takes from around it."""

    is_steady: bool
    free: frozenset[str]


class Constant(NamedTuple):
    """A number or a text of a module that a function reads."""

    names: dict[str, Value]
    name: str
    value: Value

    @property
    def stands(self) -> bool:
        """Whether it is still the same."""
        return self.names.get(self.name) is self.value


def constants_of(functions: Iterable[Function | None]) -> list[Constant] | None:
    """Returns the names of their modules that ``functions`` read and that might change; None if
    they may read others, as a closure may.

    While these stand, a call of them may stand for another one with the same arguments.
    """
    found: list[Constant] = []
    for function in functions:
        if function is None or function.attributes or function.closure is not None:
            return None
        body = _body(function.node)
        if not body.is_steady:
            return None
        names = function.module.names
        for name in body.free:
            if name not in names:
                if name not in _BUILTINS:
                    return None
            elif not _is_code(names[name]):
                if not isinstance(names[name], PLAIN):
                    return None
                found.append(Constant(names, name, names[name]))
    return found


def _is_code(value: Value) -> bool:
    if isinstance(value, Namespace):
        return not value.path  # of a package; one of the project may be written to
    return isinstance(value, (Function, Class, Native, type))


_BUILTINS = frozenset(dir(builtins)) - _REACHING


@of_node
def _body(node: Scoped) -> _Body:
    parts = [node.body] if isinstance(node, ast.Lambda) else node.body
    inside = [each for part in parts for each in ast.walk(part)]
    bound = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
    read: set[str] = set()
    for each in inside:
        if isinstance(each, _BEYOND) or _reaches(each):
            return _Body(False, frozenset())
        if isinstance(each, ast.Name):
            (read if isinstance(each.ctx, ast.Load) else bound).add(each.id)
        elif isinstance(each, ast.arg):
            bound.add(each.arg)
        elif isinstance(each, ast.FunctionDef):
            bound.add(each.name)
    return _Body(True, frozenset(read - bound))


def _reaches(node: ast.AST) -> bool:
    if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
        return True
    if not isinstance(node, ast.Call):
        return False
    if any(_is_in_place(each) for each in node.keywords):
        return True
    if isinstance(node.func, ast.Attribute):
        name = node.func.attr
        return name in _CHANGING or (name.endswith("_") and not name.endswith("__"))
    return isinstance(node.func, ast.Name) and node.func.id in _REACHING


def _is_in_place(keyword: ast.keyword) -> bool:
    if keyword.arg not in ("inplace", "out"):
        return False
    value = keyword.value
    return not (isinstance(value, ast.Constant) and not value.value)
