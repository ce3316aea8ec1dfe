"""Numbers by chance: what ``random`` and ``numpy.random`` draw, of which the count is known."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.interpreter.values import Namespace, Native, Unknown
from nanolint.interpreter.watched import Index, Real, plain
from nanolint.tape.tape import Component
from nanolint.tensors.dtypes import INT32, INT64
from nanolint.tensors.role import role
from nanolint.tensors.tensor import Tensor, empty

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

REALS = ("random", "uniform", "gauss", "normalvariate", "betavariate", "triangular")
DATA = role("data", Component.INPUTS)


class Start(Tensor):
    """A tensor of one number by chance, and what a window that begins there is told by:
    ``data[start : start + length]``."""

    __slots__ = ("offset",)

    def __init__(self, of: Tensor, offset: Index) -> None:
        super().__init__(of.device, of.storage, of.shape, of.strides, of.dtype, of.role)
        self.offset = offset


def start(machine: Script, made: Value) -> Value:
    """Of whole numbers by chance one, wherever it lies: there windows may begin."""
    one = isinstance(made, Tensor) and made.shape in ((), (1,))
    return Start(made, drawn(machine, None)) if one else made


def moved_on(left: Value, op: ast.operator, right: Value, found: Value) -> Value:
    """``start + length``, which is as many numbers after it."""
    if isinstance(left, Start) and type(right) is int and isinstance(op, (ast.Add, ast.Sub)):
        return Start(found, left.offset.shifted(right if isinstance(op, ast.Add) else -right))
    if isinstance(right, Start) and type(left) is int and isinstance(op, ast.Add):
        return Start(found, right.offset.shifted(left))
    return found


def drawn(machine: Script, size: Value) -> Value:
    """Whole numbers by chance: one, or as many as ``size`` says."""
    if isinstance(size, Unknown):
        return size.bare()
    if size is None:
        return Index("a number by chance", machine.place, origin=object())
    shape = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    return empty(machine.host, shape, INT64, DATA)


def of_numpy(machine: Script) -> Namespace:
    """``numpy.random``."""

    def randint(*bounds: Value, size: Value = None, **_: Value) -> Value:
        return drawn(machine, bounds[2] if len(bounds) > 2 else size)

    def choice(values: Value, size: Value = None, *_: Value, **__: Value) -> Value:
        whole = isinstance(values, (int, range)) or (
            isinstance(values, Tensor) and _is_long(values)
        )
        return drawn(machine, size) if whole else machine.unknown("a choice by chance")

    generator = Namespace(
        "numpy.random",
        {
            "integers": Native("integers", randint, plain=False),
            "randint": Native("randint", randint, plain=False),
            "choice": Native("choice", choice, plain=False),
            "seed": Native("seed", lambda *_: None, plain=False),
            "shuffle": Native("shuffle", lambda *_: None, plain=False),
        },
    )
    for name in ("default_rng", "RandomState", "Generator"):
        generator.names[name] = Native(name, lambda *_: generator, plain=False)
    return generator


def chance(machine: Script) -> Namespace:
    """``random``."""
    one = Native("randint", lambda *_: drawn(machine, None), plain=False)
    nothing = Native("seed", lambda *_: None, plain=False)
    found = {"randint": one, "randrange": one, "seed": nothing, "shuffle": nothing}
    real = Native("random", lambda *_: Real("a number by chance", machine.place), plain=False)
    found |= dict.fromkeys(REALS, real)
    found["choice"] = Native("choice", lambda values: _chosen(machine, values), plain=False)
    found["sample"] = Native("sample", lambda *a, **k: _sampled(machine, *a, **k), plain=False)
    found["choices"] = Native("choices", lambda *a, **k: _several(machine, *a, **k), plain=False)
    found["Random"] = Native("Random", lambda *_: Namespace("random", found), plain=False)
    return Namespace("random", found)


def _chosen(machine: Script, values: Value) -> Value:
    """One of some values by chance: known where they are the same to memory."""
    if not isinstance(values, (list, tuple)) or not values:
        return machine.unknown("a choice by chance")
    first, *others = map(plain, values)
    same = all(type(each) is type(first) and _kind(each) == _kind(first) for each in others)
    return first if same else machine.unknown("a choice by chance")


def _kind(value: Value) -> Value:
    """What makes two values the same to memory: of tensors all but their contents."""
    if isinstance(value, Tensor):
        return value.device, value.shape, value.strides, value.dtype
    return value


def _sampled(machine: Script, values: Value, k: Value, **_: Value) -> Value:
    """``random.sample``: so many of some values, each once."""
    enough = isinstance(values, (list, tuple, range)) and type(k) is int and k <= len(values)
    return _several(machine, values, k=k) if enough else machine.unknown("a choice by chance")


def _several(
    machine: Script, values: Value, _weights: Value = None, k: Value = 1, **_: Value
) -> Value:
    """``random.choices``: so many of some values."""
    if type(k) is not int or not isinstance(values, (list, tuple, range)) or not values:
        return machine.unknown("a choice by chance")
    machine.bounded(k)
    if isinstance(values, range):
        return [drawn(machine, None) for _ in range(k)]
    return [_chosen(machine, values)] * k


def _is_long(x: Tensor) -> bool:
    return len(x.shape) == 1 and x.dtype in (INT32, INT64)
