"""What a file says, whoever parsed it: expressions and statements as frozen data.

Two modules make these trees: from_ast.py in a few milliseconds where a file is plain, and
from_libcst.py for every file that Python takes. They agree to the character; follow.py and
evaluate.py, which know what a tree means, cannot tell which one it came from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.diagnostics import Span
    from nanolint.source.assignments import Comment, Read
    from nanolint.source.values import Plain


class Extent(NamedTuple):
    """The characters of an expression, with its own parentheses and within them."""

    span: Span
    inner: Span


@dataclass(frozen=True, slots=True)
class Expression:
    """Any expression."""

    place: Extent

    @property
    def span(self) -> Span:
        """The characters with the expression's own parentheses."""
        return self.place.span

    @property
    def inner(self) -> Span:
        """The characters within them."""
        return self.place.inner


@dataclass(frozen=True, slots=True)
class Constant(Expression):
    """A literal number or text, ``True``, ``False`` or ``None``; texts side by side are one."""

    value: Plain


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """A name that is read or bound."""

    name: str


@dataclass(frozen=True, slots=True)
class Unary(Expression):
    """``-x``, ``not x``."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    """``x * y``, but neither comparisons nor ``and`` and ``or``."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Boolean(Expression):
    """``x and y``, ``x or y``."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Comparison(Expression):
    """``x < y <= z``: what is compared first, then operators and operands."""

    left: Expression
    others: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Choice(Expression):
    """``body if test else orelse``."""

    test: Expression
    body: Expression
    orelse: Expression


@dataclass(frozen=True, slots=True)
class Sequence(Expression):
    """A tuple or a list, also as a target."""

    items: tuple[Expression, ...]
    is_list: bool


@dataclass(frozen=True, slots=True)
class Starred(Expression):
    """``*x`` in a tuple or a list."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Dictionary(Expression):
    """``{x: y}``; None stands for ``**z``."""

    pairs: tuple[tuple[Expression, Expression] | None, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """``{value!r:spec}`` in an f-string."""

    value: Expression
    conversion: str | None
    spec: str


@dataclass(frozen=True, slots=True)
class Text(Expression):
    """An f-string: its texts and its fields."""

    parts: tuple[str | Field, ...]


@dataclass(frozen=True, slots=True)
class Index(Expression):
    """``x[y]``."""

    container: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Attribute(Expression):
    """``x.name``."""

    value: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """``x(y, name=z)``."""

    function: Expression
    arguments: tuple[Expression, ...]
    named: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Opaque(Expression):
    """An expression that is not looked into: why it has no value, and a noun for it."""

    reason: str
    noun: str = "an expression"


@dataclass(frozen=True, slots=True)
class Uses:
    """What one statement does with names.

    ``reads`` are the names that it reads. ``binds`` are the globals that it may bind when it runs,
    ``later`` those that a function defined in it declares global, ``walrus`` those of ``binds``
    bound by ``:=``. ``dynamic``: it may bind any name. ``changes``: it may change a list or
    dictionary that it reads.
    """

    reads: tuple[Read, ...] = ()
    binds: frozenset[str] = frozenset()
    walrus: frozenset[str] = frozenset()
    later: frozenset[str] = frozenset()
    dynamic: bool = False
    changes: bool = False


def joined(parts: Iterable[Uses]) -> Uses:
    """What several parts of a statement do together."""
    parts = list(parts)
    return Uses(
        reads=tuple(read for part in parts for read in part.reads),
        binds=frozenset().union(*(part.binds for part in parts)),
        walrus=frozenset().union(*(part.walrus for part in parts)),
        later=frozenset().union(*(part.later for part in parts)),
        dynamic=any(part.dynamic for part in parts),
        changes=any(part.changes for part in parts),
    )


@dataclass(frozen=True, slots=True)
class Statement:
    """Any statement; this class itself: one of which no more than its uses counts."""

    row: int
    uses: Uses


@dataclass(frozen=True, slots=True)
class Assign(Statement):
    """``x = y = value``, also annotated; ``line`` spans the logical line without its comment."""

    targets: tuple[Expression, ...]
    value: Expression
    line: Span


@dataclass(frozen=True, slots=True)
class Augment(Statement):
    """``x *= value``; the operator without its ``=``."""

    target: Expression
    operator: str
    value: Expression
    line: Span


@dataclass(frozen=True, slots=True)
class Import(Statement):
    """``import a.b as c``: the names that are bound."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportFrom(Statement):
    """``from module import name as bound``; no names: ``import *``."""

    module: str
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Delete(Statement):
    """``del x``: ``uses.binds`` has the names."""


@dataclass(frozen=True, slots=True)
class Definition(Statement):
    """A function or class."""

    name: str


@dataclass(frozen=True, slots=True)
class Branch(Statement):
    """``if test: body else: orelse``, where an ``elif`` is a branch of its own in ``orelse``."""

    test: Expression
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...]
    test_binds: bool  # by :=


@dataclass(frozen=True, slots=True)
class Block(Statement):
    """A statement whose parts may run, or not, or often: ``for``, ``try``, ``with`` ..."""

    keyword: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A whole file."""

    statements: tuple[Statement, ...]
    comments: tuple[Comment, ...]
