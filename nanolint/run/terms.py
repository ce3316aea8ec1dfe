"""How a number of a script came about, so that it can be worked out anew for other values.

A term is a value with its history: what was given in the script or on its launch line, the number
of processes, and what the script did with them. ``total // (B * T * world)`` is three operations on
three given values and the world size.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.source.bounds import Unevaluable
from nanolint.source.operations import BINARY, BUILTINS, binary, compare, unary
from nanolint.source.scope import Scope, guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from nanolint.diagnostics import Span
    from nanolint.source.values import Scalar


class Surface(str, Enum):
    """Where a script lets a value be set."""

    CONSTANT = "constant"
    GLOBAL = "global above a configurator"
    ARGUMENT = "default of a flag"
    FIELD = "class attribute"
    ENTRY = "entry of a dictionary"
    ENVIRONMENT = "default of an environment variable"
    FLAG = "flag on the launch line"
    VARIABLE = "environment of the launch line"
    SAVED = "what an earlier run saved"


@dataclass(frozen=True, slots=True)
class Place:
    """The characters ``span`` of the file ``path``; ``line`` (from 1) is where they begin."""

    path: Path | None
    line: int
    span: Span | None = None

    def __str__(self) -> str:
        """``train.py:74``; a file where no line of it is meant."""
        if self.path is None:
            return f"line {self.line}"
        return f"{self.path.name}:{self.line}" if self.line else self.path.name


@dataclass(frozen=True, slots=True)
class Given:
    """A value that somebody wrote down.

    ``key`` is what people call it: ``DEVICE_BATCH_SIZE``, ``--device-batch-size``, ``args.B``.
    ``place.span`` are the characters of the value, which another value may take the place of; None
    where it has none of its own. ``default`` is where the script sets what the launch line
    overrides.
    """

    key: str
    value: Scalar
    surface: Surface
    place: Place
    default: Place | None = None


@dataclass(frozen=True, slots=True)
class Number:
    """A literal inside an expression, or what is known of the machine."""

    value: Scalar


@dataclass(frozen=True, slots=True)
class World:
    """The number of processes."""

    value: int


@dataclass(frozen=True, slots=True)
class Operation:
    """What an operator, a comparison or a function made of other terms: ``//``, ``==``, ``round``.

    ``line`` is where it stands in ``path``, 0 where that does not matter.
    """

    symbol: str
    operands: tuple[Term, ...]
    value: Scalar
    path: Path | None = None
    line: int = 0


Term = Given | Number | World | Operation


_OF_MATH = ["ceil", "floor", "sqrt", "isqrt", "log", "log2", "log10", "exp", "gcd", "prod", "pow"]
FUNCTIONS: Mapping[str, Callable[..., object]] = {
    **BUILTINS,
    **{f"math.{each}": getattr(math, each) for each in _OF_MATH},
}
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_OF_SEVERAL: Mapping[str, Callable[..., object]] = {"and": all, "sum": BUILTINS["sum"]}
_UNARY = {"neg": "-", "pos": "+", "not": "not", "inv": "~"}


def apply(symbol: str, operands: tuple[Scalar, ...]) -> Scalar:
    """What ``symbol`` makes of plain values. Raises Unevaluable, also for what Python would raise.

    >>> apply("//", (524288, 65536))
    8
    """
    function: Callable[..., object]
    arguments: tuple[object, ...]
    if symbol in _UNARY:
        function, arguments = unary, (_UNARY[symbol], *operands)
    elif symbol in _COMPARISONS:
        function, arguments = compare, (symbol, *operands)
    elif symbol in BINARY:
        function, arguments = binary, (symbol, *operands)
    elif symbol in _OF_SEVERAL:
        function, arguments = _OF_SEVERAL[symbol], (operands,)
    elif symbol in FUNCTIONS:
        function, arguments = FUNCTIONS[symbol], operands
    else:
        raise Unevaluable(f"calls {symbol} at run time")
    found = guarded(Scope({}), function, *arguments)
    if isinstance(found, (list, tuple, dict)):
        raise Unevaluable("not one value")
    return found


def evaluate(term: Term, changes: Mapping[Given, Scalar], world: int | None = None) -> Scalar:
    """The value of ``term`` with other values for what was given, and for so many processes.

    Raises Unevaluable where the script would fail. A part that stands in ``term`` often, as a
    model's count of parameters does, is worked out once.
    """
    return _evaluated(term, changes, world, {})


def _evaluated(
    term: Term, changes: Mapping[Given, Scalar], world: int | None, known: dict[int, Scalar]
) -> Scalar:
    if isinstance(term, Given):
        return changes.get(term, term.value)
    if isinstance(term, World):
        return term.value if world is None else world
    if isinstance(term, Number):
        return term.value
    if id(term) not in known:
        operands = tuple(_evaluated(each, changes, world, known) for each in term.operands)
        known[id(term)] = apply(term.symbol, operands)
    return known[id(term)]


def leaves(term: Term) -> Iterator[Given | World]:
    """What was given, and the world size, wherever they stand in ``term``; each once."""
    yield from dict.fromkeys(each for each in parts(term) if isinstance(each, (Given, World)))


def parts(term: Term) -> Iterator[Term]:
    """The term behind all that it is made of, each once."""
    return _parts(term, set())


def _parts(term: Term, seen: set[int]) -> Iterator[Term]:
    if id(term) in seen:
        return
    seen.add(id(term))
    if isinstance(term, Operation):
        for operand in term.operands:
            yield from _parts(operand, seen)
    yield term


def as_written(changes: Mapping[Given, Scalar]) -> str:
    """As people write it: ``B = 16``, ``--batch-size=16``."""
    return ", ".join(
        f"{given.key}={value}" if given.key.startswith("-") else f"{given.key} = {value}"
        for given, value in changes.items()
    )


MOST_SHOWN = 3  # operands of a function
_BINDS = {"**": 4, "*": 3, "/": 3, "//": 3, "%": 3, "+": 2, "-": 2}


def describe(term: Term, *, outermost: int = 0) -> str:
    """The term as people write it, with the names of what was given.

    ``TOTAL_BATCH_SIZE // (DEVICE_BATCH_SIZE * MAX_SEQ_LEN)``
    """
    if isinstance(term, Given):
        return term.key
    if isinstance(term, World):
        return "world size"
    if isinstance(term, Number):
        return str(term.value)
    if term.symbol in _BINDS:
        own = _BINDS[term.symbol]
        left = describe(term.operands[0], outermost=own)
        right = describe(term.operands[1], outermost=own + 1)
        text = f"{left} {term.symbol} {right}"
        return f"({text})" if own < outermost else text
    if term.symbol in _COMPARISONS or (len(term.operands) == 2 and not term.symbol.isidentifier()):
        inner = f" {term.symbol} ".join(describe(each, outermost=1) for each in term.operands)
        return f"({inner})" if outermost else inner
    if term.symbol == "and":
        return " and ".join(map(describe, term.operands))
    if term.symbol in _UNARY:
        sign = "not " if term.symbol == "not" else _UNARY[term.symbol]
        return f"{sign}{describe(term.operands[0], outermost=5)}"
    shown = list(map(describe, term.operands[:MOST_SHOWN]))
    if len(term.operands) > MOST_SHOWN:
        shown.append("...")
    return f"{term.symbol}({', '.join(shown)})"
