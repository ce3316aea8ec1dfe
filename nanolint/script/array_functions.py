"""numpy's functions: torch's function of the same name on the host, in numpy's types.

Unless something else says so, numpy's numbers have 64 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.values import Native, Unknown
from nanolint.script.chances import DATA
from nanolint.tensors.dtypes import BOOL, DTYPES, FLOAT64, FLOATING, INT64, INTEGER, Dtype
from nanolint.tensors.ops.conversion import to
from nanolint.tensors.tensor import Tensor, empty

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

OF_PYTHON: dict[Value, Dtype] = {float: FLOAT64, int: INT64, bool: BOOL}
UINT16, UINT32, UINT64 = (Dtype(f"uint{8 * size}", size, INTEGER) for size in (2, 4, 8))
UNSIGNED = {each.name: each for each in (UINT16, UINT32, UINT64)}
# numpy's types by all of their names (numpy/_core/numerictypes.py); some of torch's it lacks.
OWN = {
    **{name: each for name, each in DTYPES.items() if not name.startswith(("bfloat", "float8"))},
    **UNSIGNED,
}
ALSO = {
    "bool_": "bool",
    "byte": "int8",
    "ubyte": "uint8",
    "short": "int16",
    "ushort": "uint16",
    "intc": "int32",
    "uintc": "uint32",
    "half": "float16",
    "single": "float32",
    **dict.fromkeys(("long", "longlong", "int_", "intp"), "int64"),
    **dict.fromkeys(("ulong", "ulonglong", "uint", "uintp"), "uint64"),
    **dict.fromkeys(("double", "float_"), "float64"),
    "csingle": "complex64",
    "cdouble": "complex128",
    "complex_": "complex128",
}
NUMPY = OWN | {name: OWN[other] for name, other in ALSO.items()}
BY_NAME = {**NUMPY, "float": FLOAT64, "int": INT64, "complex": NUMPY["cdouble"]}
# ``"<u2"``: a letter and how many bytes an element has.
LETTERS = {"i": "int", "u": "uint", "f": "float", "c": "complex"}
MADE = ("zeros", "ones", "empty")
ALIKE = ("maximum", "minimum", "tril", "triu", "where", "outer", "abs", "clip", "full", "arange")
FRACTIONS = ("sin", "cos", "tanh", "exp", "log", "sqrt")


def functions(machine: Script) -> dict[str, Value]:
    """numpy's, by their names."""
    torch = machine.library("torch").names
    found: dict[str, Value] = {name: _made(machine, name, torch[name]) for name in MADE}
    found |= {name: _alike(machine, name, torch[name]) for name in ALIKE}
    found |= {name: _fractions(machine, name, torch[name]) for name in FRACTIONS}
    return found


def kind_of(dtype: Value) -> Dtype | None:
    """The type that numpy makes of ``float``, of a name, or of one of its own."""
    if isinstance(dtype, str):
        kind, size = LETTERS.get(dtype.lstrip("<=|")[:1]), dtype.lstrip("<=|")[1:]
        if kind is not None and size.isdigit():
            return BY_NAME.get(f"{kind}{8 * int(size)}")
        return BY_NAME.get(dtype)
    if isinstance(dtype, Dtype):
        return dtype
    return OF_PYTHON.get(dtype) if isinstance(dtype, type) else None


def _made(machine: Script, name: str, function: Value) -> Native:
    def made(shape: Value, dtype: Value = float, *_: Value, **__: Value) -> Value:
        kind = kind_of(dtype)
        if kind is None:
            return machine.unknown(f"the type of numpy.{name}")
        return machine.call(function, [shape], {"dtype": kind})

    return Native(f"numpy.{name}", made, plain=False)


def _alike(machine: Script, name: str, function: Value) -> Native:
    """One of the same types as its operands, but for numbers with a point, which are long."""

    def computed(*given: Value, dtype: Value = None, **named: Value) -> Value:
        if any(isinstance(each, Unknown) for each in given):
            return machine.unknown(f"the result of numpy.{name}")
        if "k" in named:
            named["diagonal"] = named.pop("k")
        found = machine.call(function, list(given), named)
        kind = kind_of(dtype)
        if not isinstance(found, Tensor):
            return found
        if kind is not None:
            return to(found, kind)
        from_arrays = any(isinstance(each, Tensor) for each in given)
        is_short = found.dtype.kind == FLOATING and not from_arrays
        return to(found, FLOAT64) if is_short else found

    return Native(f"numpy.{name}", computed, plain=False)


def _fractions(machine: Script, name: str, function: Value) -> Native:
    """Of whole numbers it makes long ones with a point."""

    def computed(x: Value, *_: Value, **__: Value) -> Value:
        if not isinstance(x, Tensor):
            return machine.unknown(f"the result of numpy.{name}")
        is_whole = x.dtype.kind < FLOATING
        return machine.call(function, [to(x, FLOAT64) if is_whole else x])

    return Native(f"numpy.{name}", computed, plain=False)


def of_list(machine: Script, data: Value) -> Tensor | None:
    """An array of numbers in lists; None of anything else, and of rows that differ."""
    shape, kinds, rest = list[int](), set[type](), data
    while isinstance(rest, (list, tuple)) and rest:
        shape.append(len(rest))
        rest = rest[0]
    if not shape or not _fits(data, shape, kinds) or bool in kinds:
        return None
    return empty(machine.host, tuple(shape), FLOAT64 if float in kinds else INT64, DATA)


def _fits(data: Value, shape: list[int], kinds: set[type]) -> bool:
    """Whether lists are as long as ``shape`` says, and hold numbers, of such ``kinds``."""
    if not shape:
        kinds.add(type(data))
        return type(data) in (int, float, bool)
    if not isinstance(data, (list, tuple)) or len(data) != shape[0]:
        return False
    return all(_fits(each, shape[1:], kinds) for each in data)
