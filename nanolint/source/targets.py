"""The shape of an assignment: which target gets which part of the value, and its factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.source.assignments import Factor
from nanolint.source.syntax import Binary, Constant, Expression, Name, Sequence, Starred
from nanolint.source.values import Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.source.values import Value

_STARRED = -1


@dataclass(frozen=True, slots=True)
class Part:
    """A name, and the part of ``expression`` that it gets.

    ``path`` is empty when it gets all of it, else the index and the number of items to unpack,
    level by level.
    """

    name: Name
    expression: Expression
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
    target: Expression, expression: Expression, path: tuple[tuple[int, int], ...] = ()
) -> Iterator[Part]:
    """The names of ``target``; each gets an expression of its own where both are tuples."""
    if isinstance(target, Name):
        yield Part(target, expression, path)
    elif isinstance(target, Sequence):
        items = expression.items if isinstance(expression, Sequence) and not path else ()
        starred = any(isinstance(each, Starred) for each in (*target.items, *items))
        length = _STARRED if starred else len(target.items)
        for index, each in enumerate(target.items):
            inner = each.value if isinstance(each, Starred) else each
            if len(items) == length:
                yield from unpack(inner, items[index])
            else:
                yield from unpack(inner, expression, (*path, (index, length)))


def factors_of(node: Expression) -> Iterator[Factor]:
    """The operands of a product, nested products flattened, or a lone integer."""
    if isinstance(node, Binary) and node.operator == "*":
        for operand in (node.left, node.right):
            nested = list(factors_of(operand))
            yield from nested or [Factor(operand.span, None)]
    elif isinstance(node, Constant) and type(node.value) is int:
        yield Factor(node.inner, node.value)
