"""The value of an expression, worked out from its syntax tree. Nothing is ever run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.source import operations, syntax
from nanolint.source.bounds import MAX_SIZE, TOO_LARGE, Unevaluable
from nanolint.source.operations import binary, compare, unary
from nanolint.source.scope import guarded
from nanolint.source.values import Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nanolint.source.scope import Scope
    from nanolint.source.syntax import Expression
    from nanolint.source.values import Plain, Value

_CHOICES = (syntax.Choice, syntax.Name)  # whose candidates are those of a part of them
_LONGEST_NAME = 5  # dots in a name that is written out


def evaluate(expression: Expression, scope: Scope) -> Value:
    """The value of ``expression``, or why only a run could tell."""
    try:
        return Known(_evaluate(expression, scope))
    except Unevaluable as error:
        return Unknown(error.reason, error.candidates)
    except RecursionError:
        return Unknown(TOO_LARGE)


def _evaluate(node: Expression, scope: Scope) -> Plain:
    scope.budget.spend(1)
    try:
        return _HANDLERS[type(node)](node, scope)
    except Unevaluable as error:
        if error.candidates and type(node) not in _CHOICES:
            raise Unevaluable(error.reason) from None  # they are those of an operand
        raise


def _constant(node: syntax.Constant, scope: Scope) -> Plain:
    return scope.budget.admit(node.value)


def _name(node: syntax.Name, scope: Scope) -> Plain:
    return scope.read(node.name)


def _unary(node: syntax.Unary, scope: Scope) -> Plain:
    return guarded(scope, unary, node.operator, _evaluate(node.operand, scope))


def _binary(node: syntax.Binary, scope: Scope) -> Plain:
    left, right = _evaluate(node.left, scope), _evaluate(node.right, scope)
    return guarded(scope, binary, node.operator, left, right)


def _boolean(node: syntax.Boolean, scope: Scope) -> Plain:
    left = _evaluate(node.left, scope)
    if bool(left) is (node.operator == "or"):
        return left
    return _evaluate(node.right, scope)


def _comparison(node: syntax.Comparison, scope: Scope) -> Plain:
    left = _evaluate(node.left, scope)
    for operator, comparator in node.others:
        right = _evaluate(comparator, scope)
        if not guarded(scope, compare, operator, left, right):
            return False
        left = right
    return True


def _choice(node: syntax.Choice, scope: Scope) -> Plain:
    """Where only a run tells the test, the value may be either branch's."""
    try:
        chosen = _evaluate(node.test, scope)
    except Unevaluable as error:
        branches = [_candidates(branch, scope) for branch in (node.body, node.orelse)]
        candidates = (*branches[0], *branches[1]) if all(branches) else ()
        raise Unevaluable(error.reason, candidates) from None
    return _evaluate(node.body if chosen else node.orelse, scope)


def _candidates(branch: Expression, scope: Scope) -> tuple[Plain, ...]:
    try:
        return (_evaluate(branch, scope),)
    except Unevaluable as error:
        return error.candidates
    except RecursionError:
        return ()


def _sequence(node: syntax.Sequence, scope: Scope) -> Plain:
    if len(node.items) > MAX_SIZE:
        raise Unevaluable(TOO_LARGE)
    items = [_evaluate(item, scope) for item in node.items]
    return scope.budget.admit(items if node.is_list else tuple(items))


def _starred(_node: syntax.Starred, _scope: Scope) -> Plain:
    raise Unevaluable("a starred item")


def _dictionary(node: syntax.Dictionary, scope: Scope) -> Plain:
    if len(node.pairs) > MAX_SIZE:
        raise Unevaluable(TOO_LARGE)
    pairs = []
    for pair in node.pairs:
        if pair is None:
            raise Unevaluable("a starred item")
        pairs.append((_evaluate(pair[0], scope), _evaluate(pair[1], scope)))
    return guarded(scope, dict, pairs)


def _text(node: syntax.Text, scope: Scope) -> Plain:
    texts = [part if isinstance(part, str) else _field(part, scope) for part in node.parts]
    return scope.budget.admit("".join(texts))


def _field(field: syntax.Field, scope: Scope) -> str:
    value = _evaluate(field.value, scope)
    return str(guarded(scope, operations.field, value, field.conversion, field.spec))


def _index(node: syntax.Index, scope: Scope) -> Plain:
    container, index = _evaluate(node.container, scope), _evaluate(node.index, scope)
    return guarded(scope, lambda: container[index])  # type: ignore[index]


def _attribute(node: syntax.Attribute, _scope: Scope) -> Plain:
    raise Unevaluable(f"{_described(node)} at run time")


def _call(node: syntax.Call, scope: Scope) -> Plain:
    function = node.function
    if isinstance(function, syntax.Name):
        builtin = scope.builtin(function.name)
        if builtin is not None and not node.named:
            return guarded(scope, builtin, *[_evaluate(each, scope) for each in node.arguments])
    elif isinstance(function, syntax.Attribute) and function.name == "format":
        template = function.value
        if isinstance(template, syntax.Text) or _is_text(template):
            text = _evaluate(template, scope)
            values = [_evaluate(value, scope) for value in node.arguments]
            named = {name: _evaluate(value, scope) for name, value in node.named}
            return guarded(scope, operations.str_format, text, values, named)
    raise Unevaluable(f"calls {_described(function)} at run time")


def _is_text(node: Expression) -> bool:
    return isinstance(node, syntax.Constant) and isinstance(node.value, str)


def _opaque(node: syntax.Opaque, _scope: Scope) -> Plain:
    raise Unevaluable(node.reason)


def _described(node: Expression) -> str:
    """A short name for an expression that is not evaluated."""
    parts: list[str] = []
    while isinstance(node, syntax.Attribute) and len(parts) < _LONGEST_NAME:
        parts.append(node.name)
        node = node.value
    if isinstance(node, syntax.Name):
        return ".".join([node.name, *reversed(parts)])
    if isinstance(node, syntax.Call):
        return "the result of a call"
    return node.noun if isinstance(node, syntax.Opaque) else "an expression"


_HANDLERS: dict[type[Expression], Callable[[Any, Scope], Plain]] = {
    syntax.Attribute: _attribute,
    syntax.Binary: _binary,
    syntax.Boolean: _boolean,
    syntax.Call: _call,
    syntax.Choice: _choice,
    syntax.Comparison: _comparison,
    syntax.Constant: _constant,
    syntax.Dictionary: _dictionary,
    syntax.Index: _index,
    syntax.Name: _name,
    syntax.Opaque: _opaque,
    syntax.Sequence: _sequence,
    syntax.Starred: _starred,
    syntax.Text: _text,
    syntax.Unary: _unary,
}
