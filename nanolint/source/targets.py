"""The shape of an assignment: which target gets which part of the value, and its factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanolint.frozen import dataclass
from nanolint.source.values import Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.source.values import Value

_STARRED = -1
_LONGEST_INTEGER = 1300  # characters


@dataclass(frozen=True, slots=True)
class Part:
    """A name, and the part of ``expression`` that it gets.

    ``path`` is empty when it gets all of it, else the index and the number of items to unpack,
    level by level.
    """

    name: cst.Name
    expression: cst.BaseExpression
    path: tuple[tuple[int, int], ...] = ()

    def pick(self, value: Value) -> Value:
        """The part that the name gets, out of the value of the expression."""
        for index, length in self.path:
            if isinstance(value, Unknown):
                return Unknown(value.reason)
            if length == _STARRED:
                return Unknown("unpacked with a star")
            if not isinstance(value.value, (tuple, list, str)) or len(value.value) != length:
                return Unknown("unpacked from a value of another length")
            value = Known(value.value[index])
        return value


def unpack(
    target: cst.CSTNode, expression: cst.BaseExpression, path: tuple[tuple[int, int], ...] = ()
) -> Iterator[Part]:
    """The names of ``target``; each gets an expression of its own where both are tuples."""
    if isinstance(target, cst.Name):
        yield Part(target, expression, path)
    elif isinstance(target, (cst.Tuple, cst.List)):
        literal = isinstance(expression, (cst.Tuple, cst.List)) and not path
        items = expression.elements if literal else ()  # type: ignore[attr-defined]
        starred = any(isinstance(e, cst.StarredElement) for e in (*target.elements, *items))
        length = _STARRED if starred else len(target.elements)
        for index, element in enumerate(target.elements):
            if len(items) == length:
                yield from unpack(element.value, items[index].value)
            else:
                yield from unpack(element.value, expression, (*path, (index, length)))


def factors_of(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The operands of a product, nested products flattened, or a lone integer."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
        for operand in (node.left, node.right):
            nested = list(factors_of(operand))
            yield from nested or [operand]
    elif isinstance(node, cst.Integer):
        yield node


def integer(node: cst.BaseExpression) -> int | None:
    """The value of an integer literal, None for everything else."""
    if isinstance(node, cst.Integer) and len(node.value) <= _LONGEST_INTEGER:
        return node.evaluated_value
    return None
