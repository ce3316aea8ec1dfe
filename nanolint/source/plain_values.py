"""The value of a plain expression; evaluate.py does the same for all kinds, on libcst's nodes."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from nanolint.source.bounds import Unevaluable
from nanolint.source.operations import BUILTINS, binary, compare, unary
from nanolint.source.scope import conditional, guarded
from nanolint.source.values import Known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.source.scope import Scope
    from nanolint.source.values import Plain

MOST_NODES = 200  # of one expression
LONGEST_NAME = 4  # dots in a name that is told in full

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Not: "not"}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
}
_CONSTANTS = (int, float, str, bool, type(None))

_OPERATIONS = (
    *(ast.Constant, ast.Name, ast.Load, ast.BinOp, ast.UnaryOp),
    *_BINARY,
    *_UNARY,
)
_MORE = (
    *(ast.IfExp, ast.BoolOp, ast.boolop, ast.Compare, *_COMPARISONS),
    *(ast.Call, ast.keyword, ast.Attribute),
)
_COMPREHENSION = (ast.ListComp, ast.comprehension, ast.Tuple, ast.Store)

# Reading one of these names hands out the globals, or runs text as code; see uses.py.
_ESCAPES = frozenset({"exec", "eval", "globals", "locals", "vars", "__builtins__", "sys"})


class NotPlain(Exception):
    """There is something in a text that only libcst's reader knows."""


def names_in(expression: ast.expr) -> Iterator[ast.Name]:
    """The names that an expression of operators reads, in the order of the text."""
    if isinstance(expression, ast.Name):
        yield expression
    elif isinstance(expression, ast.BinOp):
        yield from names_in(expression.left)
        yield from names_in(expression.right)
    elif isinstance(expression, ast.UnaryOp):
        yield from names_in(expression.operand)


def check(expression: ast.expr, scope: Scope, *, calls: bool) -> None:
    """Raise NotPlain unless ``expression`` holds constants, names and operators only.

    With ``calls``, also conditions, attributes, calls, and a comprehension over the globals.
    """
    allowed = _OPERATIONS
    if calls:
        listed = isinstance(expression, ast.ListComp)
        allowed = (*_OPERATIONS, *_MORE, *(_COMPREHENSION if listed else ()))
    harmless = set()  # the names of globals() in globals().items()
    for count, node in enumerate(ast.walk(expression)):
        if count > MOST_NODES or not isinstance(node, allowed):
            raise NotPlain
        if isinstance(node, ast.Constant):
            if type(node.value) not in _CONSTANTS:
                raise NotPlain
        elif isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
                raise NotPlain  # the names may go into a text
        elif isinstance(node, ast.Attribute):
            if node.attr == "items" and _is_globals(node.value):
                harmless.add(node.value.func)  # type: ignore[attr-defined]
        elif isinstance(node, ast.Call):
            if not isinstance(expression, ast.ListComp):
                _check_call(node)
            if any(map(_is_mutable, scope.names.values())):
                raise NotPlain  # which the call may change
        elif isinstance(node, ast.Name) and node.id in _ESCAPES and node not in harmless:
            raise NotPlain


def _is_globals(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "globals"
        and not (node.args or node.keywords)
    )


def _check_call(call: ast.Call) -> None:
    """Raise NotPlain for a call that may have a value without a run."""
    if any(keyword.arg is None for keyword in call.keywords):
        raise NotPlain
    if isinstance(call.func, ast.Name) and call.func.id in BUILTINS:
        raise NotPlain
    if isinstance(call.func, ast.Attribute) and call.func.attr == "format":
        raise NotPlain


def _is_mutable(value: object) -> bool:
    return isinstance(value, Known) and isinstance(value.value, (list, dict))


def evaluate(node: ast.expr, scope: Scope) -> Plain:
    """The value of what ``check`` let through. Raises Unevaluable as evaluate.py does."""
    scope.budget.spend(1)
    try:
        return _evaluate(node, scope)
    except Unevaluable as error:
        if error.candidates and not isinstance(node, (ast.Name, ast.IfExp)):
            raise Unevaluable(error.reason) from None  # they are those of an operand
        raise


def _evaluate(node: ast.expr, scope: Scope) -> Plain:
    if isinstance(node, ast.Constant):
        return scope.budget.admit(node.value)
    if isinstance(node, ast.Name):
        return scope.read(node.id)
    if isinstance(node, ast.UnaryOp):
        return guarded(scope, unary, _UNARY[type(node.op)], evaluate(node.operand, scope))
    if isinstance(node, ast.BinOp):
        left, right = evaluate(node.left, scope), evaluate(node.right, scope)
        return guarded(scope, binary, _BINARY[type(node.op)], left, right)
    if isinstance(node, ast.BoolOp):
        return _boolean(node, scope)
    if isinstance(node, ast.Compare):
        return _comparison(node, scope)
    if isinstance(node, ast.IfExp):
        return _conditional(node, scope)
    if isinstance(node, ast.Call):
        raise Unevaluable(f"calls {_dotted(node.func)} at run time")
    if isinstance(node, ast.ListComp):
        raise Unevaluable("a comprehension at run time")
    raise Unevaluable(f"{_dotted(node)} at run time")


def _boolean(node: ast.BoolOp, scope: Scope) -> Plain:
    for operand in node.values:
        value = evaluate(operand, scope)
        if bool(value) is isinstance(node.op, ast.Or):
            break
    return value


def _comparison(node: ast.Compare, scope: Scope) -> Plain:
    left = evaluate(node.left, scope)
    for operator, comparator in zip(node.ops, node.comparators, strict=True):
        right = evaluate(comparator, scope)
        if not guarded(scope, compare, _COMPARISONS[type(operator)], left, right):
            return False
        left = right
    return True


def _conditional(node: ast.IfExp, scope: Scope) -> Plain:
    return conditional(partial(evaluate, scope=scope), node.test, node.body, node.orelse)


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < LONGEST_NAME:
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Call):
        return "the result of a call"
    if not isinstance(node, ast.Name):
        raise NotPlain
    return ".".join([node.id, *reversed(parts)])
