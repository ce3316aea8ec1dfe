"""Python's operators and a few builtins on plain values, refused where the result is too large.

So are strings made of values: f-strings, ``%`` and ``str.format``.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from nanolint.regex import lazily
from nanolint.source.bounds import MAX_BITS, MAX_SIZE, TOO_LARGE, Unevaluable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nanolint.source.values import Plain

BINARY: dict[str, Callable[[Any, Any], object]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
_UNARY: dict[str, Callable[[Any], object]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": lambda value: ~operator.index(value),  # ~True is deprecated, and warns
    "not": operator.not_,
}

_COMPARISONS: dict[str, Callable[[Any, Any], object]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "in": lambda item, container: item in container,
    "not in": lambda item, container: item not in container,
}
_SINGLETONS = (None, True, False)


def run_time_error(error: Exception) -> Unevaluable:
    """An expression that fails when it runs, in words."""
    if isinstance(error, ZeroDivisionError):
        return Unevaluable("division by zero at run time")
    return Unevaluable(f"{type(error).__name__} at run time")


def binary(symbol: str, left: Plain, right: Plain) -> object:
    """``left symbol right``. Raises Unevaluable, or what Python raises."""
    operation = BINARY.get(symbol)
    if operation is None:
        raise Unevaluable(f"the operator {symbol}")
    if symbol == "%" and isinstance(left, str):
        return percent(left, right)
    if symbol == "|" and isinstance(left, dict):
        raise Unevaluable("a union of dictionaries")
    if symbol == "*":
        _check_product(left, right)
    elif symbol == "**" and isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() * max(right, 0))
    elif symbol == "<<" and isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() + max(right, 0))
    return operation(left, right)


def unary(symbol: str, value: Plain) -> object:
    """``symbol value``."""
    return _UNARY[symbol](value)


def compare(symbol: str, left: Plain, right: Plain) -> bool:
    """``left symbol right`` for a comparison."""
    if symbol in ("is", "is not"):
        # Whether two equal numbers or strings are one object is the interpreter's own affair.
        if not any(side is constant for side in (left, right) for constant in _SINGLETONS):
            raise Unevaluable("`is` between values other than None, True and False")
        return (left is right) == (symbol == "is")
    return bool(_COMPARISONS[symbol](left, right))


def _check_bits(bits: int) -> None:
    if bits > MAX_BITS:
        raise Unevaluable(TOO_LARGE)


def _check_product(left: Plain, right: Plain) -> None:
    if isinstance(left, int) and isinstance(right, int):
        return  # both are within MAX_BITS
    for sequence, times in ((left, right), (right, left)):
        repeated = isinstance(sequence, (str, list, tuple)) and isinstance(times, int)
        if repeated and len(sequence) * times > MAX_SIZE:  # type: ignore[arg-type,operator]
            raise Unevaluable(TOO_LARGE)


def _round(number: Any, digits: Any = None) -> object:
    if isinstance(digits, int) and abs(digits) > 1000:
        raise Unevaluable(TOO_LARGE)  # round(1, -n) computes 10 ** n
    return round(number, digits)


def _sum(items: Any, start: Any = 0) -> object:
    if not all(isinstance(number, (int, float)) for number in (*items, start)):
        raise Unevaluable("a sum of other things than numbers")
    return sum(items, start)


BUILTINS: dict[str, Callable[..., object]] = {
    **{each.__name__: each for each in (abs, bool, float, int, len, max, min, str)},
    "pow": lambda base, exponent: binary("**", base, exponent),
    "round": _round,
    "sum": _sum,
}


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
