"""The statements of a config file, as data: what each key is set to, and where."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.diagnostics import Span
    from nanolint.source.values import Value


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor of a product such as ``5 * 8``. ``value`` is None unless it is an int literal.

    ``span`` is that of the literal itself, without parentheses around it.
    """

    span: Span
    value: int | None


@dataclass(frozen=True, slots=True)
class Assignment:
    """One top-level ``key = expression``, annotated or not, or one target of several.

    ``statement`` spans the whole logical line without indentation and trailing comment;
    ``value_span`` the expression with its own parentheses; ``factors`` is a lone int literal or
    the flattened operands of a product, and is empty for every other expression.
    """

    key: str
    value: Value
    statement: Span
    key_span: Span
    value_span: Span
    expression: str
    factors: tuple[Factor, ...] = ()
    shared: bool = False  # chained, unpacked, augmented, or under an `if`: not to be edited alone


EVERY = "*"  # the name of a read of the namespace: ``globals()``, a frame's ``f_globals``


@dataclass(frozen=True, slots=True)
class Read:
    """A use of a name in an expression, of any name if it is EVERY.

    ``in_text`` marks a use inside an f-string or str().
    """

    name: str
    span: Span
    in_text: bool


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its leading ``#``. ``own_line`` is False for one that trails code."""

    text: str
    span: Span
    own_line: bool


@dataclass(frozen=True, slots=True)
class Module:
    """A parsed Python file.

    ``assignments`` keeps source order, duplicates included. ``imported`` are the names that
    ``from x import ...`` bound, in order. ``final`` is what each name that the file writes holds
    at its end: where a statement may write it at run time (under ``if``/``for``/``with``), it is
    Unknown, and ``dynamic`` has the reason too. A reason under the key ``"*"`` holds for every
    name that is not in ``final`` (``globals()[...] = ...``, an unresolved star import).

    An ``if`` whose test is known is followed: the assignments of the branch that runs count, and
    are ``shared``, so that no fix edits them.
    """

    assignments: tuple[Assignment, ...]
    reads: tuple[Read, ...]
    comments: tuple[Comment, ...]
    dynamic: tuple[tuple[str, str], ...] = ()
    imported: tuple[tuple[str, Value], ...] = ()
    final: Mapping[str, Value] = field(default_factory=dict)
