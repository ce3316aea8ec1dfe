"""Strings made of values: f-strings, ``%`` and ``str.format``, with no width beyond reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.regex import lazily
from nanolint.source.bounds import TOO_LARGE, Unevaluable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nanolint.source.values import Plain

_LONG_NUMBER = lazily(r"\d{4,}")  # a width or a precision that only fills memory
_DIRECTIVE = lazily(r"%(?:\([^()]*\))?([-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?)")
_CONVERSIONS: dict[str, Callable[[object], str]] = {"r": repr, "s": str, "a": ascii}


def field(value: Plain, conversion: str | None, spec: str) -> str:
    """The text of one ``{value!conversion:spec}`` field."""
    _check_spec(spec)
    return format(_CONVERSIONS[conversion](value) if conversion else value, spec)


def percent(template: str, values: Plain) -> str:
    """``template % values``."""
    for sizes in _DIRECTIVE.findall(template):
        if "*" in sizes or _LONG_NUMBER.search(sizes):
            raise Unevaluable(TOO_LARGE)
    return template % values


def str_format(template: str, values: Sequence[Plain], named: Mapping[str, Plain]) -> str:
    """``template.format(*values, **named)``, without attributes or items of the values."""
    import string  # few configs format a text

    for _, name, spec, _ in string.Formatter().parse(template):
        if name and not (name.isidentifier() or name.isdigit()):
            raise Unevaluable("a format field with attributes or items")
        _check_spec(spec or "")
    return template.format(*values, **named)


def _check_spec(spec: str) -> None:
    if _LONG_NUMBER.search(spec):
        raise Unevaluable(TOO_LARGE)
    if "{" in spec:
        raise Unevaluable("a format within a format")
    if spec.endswith("n"):
        raise Unevaluable("a number in the format of the locale")
