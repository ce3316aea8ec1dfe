"""The value of an expression, worked out from its syntax tree. Nothing is ever run."""

from __future__ import annotations

import warnings
from ast import literal_eval
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from nanolint.source import formatting
from nanolint.source.bounds import MAX_SIZE, TOO_LARGE, Unevaluable
from nanolint.source.nodes import is_str_format
from nanolint.source.operations import binary, compare, unary
from nanolint.source.scope import Scope, conditional, guarded
from nanolint.source.symbols import symbol
from nanolint.source.values import Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from nanolint.source.values import Plain, Value

_CONSTANTS: dict[str, Plain] = {"None": None, "True": True, "False": False}
_CHOICES = (cst.IfExp, cst.Name)  # whose candidates are those of a part of them
_LONGEST_NUMBER = 1300  # characters; more digits are past MAX_BITS


def evaluate(expression: cst.BaseExpression, scope: Scope) -> Value:
    """The value of ``expression``, or why only a run could tell."""
    try:
        return Known(_evaluate(expression, scope))
    except Unevaluable as error:
        return Unknown(error.reason, error.candidates)
    except RecursionError:
        return Unknown(TOO_LARGE)


def _evaluate(node: cst.BaseExpression, scope: Scope) -> Plain:
    scope.budget.spend(1)
    handler = _HANDLERS.get(type(node))
    if handler is None:
        raise Unevaluable(f"{_describe(node)} at run time")
    try:
        return handler(node, scope)
    except Unevaluable as error:
        if error.candidates and type(node) not in _CHOICES:
            raise Unevaluable(error.reason) from None  # they are those of an operand
        raise


def _name(node: cst.Name, scope: Scope) -> Plain:
    if node.value in _CONSTANTS:
        return _CONSTANTS[node.value]
    return scope.read(node.value)


def _number(node: cst.Integer | cst.Float, scope: Scope) -> Plain:
    if len(node.value) > _LONGEST_NUMBER:
        raise Unevaluable(TOO_LARGE)
    return guarded(scope, literal_eval, node.value)


def _string(node: cst.SimpleString, scope: Scope) -> Plain:
    if len(node.value) > MAX_SIZE:
        raise Unevaluable(TOO_LARGE)
    if "b" in node.prefix.lower():
        raise Unevaluable("a bytes literal")
    if "\\" not in node.value and "\r" not in node.value:
        return scope.budget.admit(node.raw_value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape is the author's business
        try:
            return scope.budget.admit(literal_eval(node.value))
        except (SyntaxError, ValueError):
            raise Unevaluable("a string that Python refuses") from None


def _joined_string(node: cst.ConcatenatedString, scope: Scope) -> Plain:
    left, right = _evaluate(node.left, scope), _evaluate(node.right, scope)
    return guarded(scope, binary, "+", left, right)


def _f_string(node: cst.FormattedString, scope: Scope) -> Plain:
    parts = []
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            if "\\" in part.value:
                raise Unevaluable("an escape in an f-string")
            text = part.value.replace("{{", "{").replace("}}", "}")
            parts.append(text.replace("\r\n", "\n").replace("\r", "\n"))
        elif isinstance(part, cst.FormattedStringExpression):
            if part.equal is not None:
                raise Unevaluable("an f-string that shows its own source")
            spec = _spec(part.format_spec or ())
            value = _evaluate(part.expression, scope)
            parts.append(str(guarded(scope, formatting.field, value, part.conversion, spec)))
    return scope.budget.admit("".join(parts))


def _spec(parts: Sequence[cst.BaseFormattedStringContent]) -> str:
    texts = [part.value for part in parts if isinstance(part, cst.FormattedStringText)]
    if len(texts) < len(parts):
        raise Unevaluable("a format within a format")
    return "".join(texts)


def _unary(node: cst.UnaryOperation, scope: Scope) -> Plain:
    return guarded(scope, unary, symbol(node.operator), _evaluate(node.expression, scope))


def _binary(node: cst.BinaryOperation, scope: Scope) -> Plain:
    left, right = _evaluate(node.left, scope), _evaluate(node.right, scope)
    return guarded(scope, binary, symbol(node.operator), left, right)


def _boolean(node: cst.BooleanOperation, scope: Scope) -> Plain:
    left = _evaluate(node.left, scope)
    if bool(left) is isinstance(node.operator, cst.Or):
        return left
    return _evaluate(node.right, scope)


def _comparison(node: cst.Comparison, scope: Scope) -> Plain:
    left = _evaluate(node.left, scope)
    for target in node.comparisons:
        right = _evaluate(target.comparator, scope)
        if not guarded(scope, compare, symbol(target.operator), left, right):
            return False
        left = right
    return True


def _conditional(node: cst.IfExp, scope: Scope) -> Plain:
    return conditional(partial(_evaluate, scope=scope), node.test, node.body, node.orelse)


def _sequence(node: cst.Tuple | cst.List, scope: Scope) -> Plain:
    if len(node.elements) > MAX_SIZE:
        raise Unevaluable(TOO_LARGE)
    items = []
    for element in node.elements:
        if not isinstance(element, cst.Element):
            raise Unevaluable("a starred item")
        items.append(_evaluate(element.value, scope))
    return scope.budget.admit(tuple(items) if isinstance(node, cst.Tuple) else items)


def _dict(node: cst.Dict, scope: Scope) -> Plain:
    if len(node.elements) > MAX_SIZE:
        raise Unevaluable(TOO_LARGE)
    pairs = []
    for element in node.elements:
        if not isinstance(element, cst.DictElement):
            raise Unevaluable("a starred item")
        pairs.append((_evaluate(element.key, scope), _evaluate(element.value, scope)))
    return guarded(scope, dict, pairs)


def _subscript(node: cst.Subscript, scope: Scope) -> Plain:
    container = _evaluate(node.value, scope)
    if len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
        raise Unevaluable("a slice")
    index = _evaluate(node.slice[0].slice.value, scope)
    return guarded(scope, lambda: container[index])  # type: ignore[index]


def _call(node: cst.Call, scope: Scope) -> Plain:
    if any(argument.star for argument in node.args):
        raise Unevaluable("a call with starred arguments")
    named = {argument.keyword.value: argument.value for argument in node.args if argument.keyword}
    plain = [argument.value for argument in node.args if not argument.keyword]
    if isinstance(node.func, cst.Name):
        function = scope.builtin(node.func.value)
        if function is not None and not named:
            return guarded(scope, function, *[_evaluate(value, scope) for value in plain])
    elif isinstance(node.func, cst.Attribute) and is_str_format(node.func):
        template = _evaluate(node.func.value, scope)
        values = [_evaluate(value, scope) for value in plain]
        keywords = {key: _evaluate(value, scope) for key, value in named.items()}
        return guarded(scope, formatting.str_format, template, values, keywords)
    raise Unevaluable(f"calls {_describe(node.func)} at run time")


def _describe(node: cst.BaseExpression) -> str:
    """A short name for an expression that is not evaluated."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute) and len(parts) < 5:
        parts.append(node.attr.value)
        node = node.value
    if isinstance(node, cst.Name):
        return ".".join([node.value, *reversed(parts)])
    if isinstance(node, cst.Call):
        return "the result of a call"
    return _NOUNS.get(type(node), "an expression")


_NOUNS: dict[type[cst.CSTNode], str] = {
    cst.Await: "await",
    cst.DictComp: "a comprehension",
    cst.Ellipsis: "an ellipsis",
    cst.GeneratorExp: "a generator",
    cst.Imaginary: "a complex number",
    cst.Lambda: "a lambda",
    cst.ListComp: "a comprehension",
    cst.NamedExpr: "an assignment expression",
    cst.Set: "a set",
    cst.SetComp: "a comprehension",
    cst.Yield: "yield",
}

_HANDLERS: dict[type[cst.CSTNode], Callable[[Any, Scope], Plain]] = {
    cst.BinaryOperation: _binary,
    cst.BooleanOperation: _boolean,
    cst.Call: _call,
    cst.Comparison: _comparison,
    cst.ConcatenatedString: _joined_string,
    cst.Dict: _dict,
    cst.Float: _number,
    cst.FormattedString: _f_string,
    cst.IfExp: _conditional,
    cst.Integer: _number,
    cst.List: _sequence,
    cst.Name: _name,
    cst.SimpleString: _string,
    cst.Subscript: _subscript,
    cst.Tuple: _sequence,
    cst.UnaryOperation: _unary,
}
