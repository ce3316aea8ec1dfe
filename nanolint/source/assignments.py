"""The statements of a config file, as data: what each key is set to, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanolint.diagnostics import Span
    from nanolint.source.values import Value


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor of a product such as ``5 * 8``. ``value`` is None unless it is an int literal."""

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
    reads: frozenset[str] = frozenset()  # names that the expression reads
    shared: bool = False  # a chained or unpacked target: the value belongs to several keys


@dataclass(frozen=True, slots=True)
class Read:
    """A use of a name in an expression. ``in_text`` marks a use inside an f-string or str()."""

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

    ``assignments`` keeps source order, duplicates included; ``dynamic`` maps a key that some
    statement may write at run time (under ``if``/``for``/``with``) to the reason; a reason under
    the key ``"*"`` holds for every key (``globals()[...] = ...``, an unresolved star import).
    """

    assignments: tuple[Assignment, ...]
    reads: tuple[Read, ...]
    comments: tuple[Comment, ...]
    dynamic: tuple[tuple[str, str], ...] = ()
