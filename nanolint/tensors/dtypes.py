"""Element types and which of two wins (c10/core/ScalarType.h, ``promoteTypes``)."""

from __future__ import annotations

from typing import TypeAlias

Number: TypeAlias = "bool | int | float | complex"


class Dtype:
    """An element type: its name in torch, bytes of an element, and its place among the others.

    ``kind`` orders booleans, integers, floating and complex numbers: a tensor of a higher kind
    decides the type of a result.
    """

    __slots__ = ("itemsize", "kind", "name")

    def __init__(self, name: str, itemsize: int, kind: int) -> None:
        self.name = name
        self.itemsize = itemsize
        self.kind = kind

    def __repr__(self) -> str:
        return self.name

    @property
    def is_differentiable(self) -> bool:
        """Whether a tensor of this type can have a gradient."""
        return self.kind >= FLOATING


BOOLEAN, INTEGER, FLOATING, COMPLEX = range(4)

BOOL = Dtype("bool", 1, BOOLEAN)
UINT8 = Dtype("uint8", 1, INTEGER)
INT8 = Dtype("int8", 1, INTEGER)
INT16 = Dtype("int16", 2, INTEGER)
INT32 = Dtype("int32", 4, INTEGER)
INT64 = Dtype("int64", 8, INTEGER)
FLOAT8_E4M3FN = Dtype("float8_e4m3fn", 1, FLOATING)
FLOAT8_E5M2 = Dtype("float8_e5m2", 1, FLOATING)
FLOAT8 = (FLOAT8_E4M3FN, FLOAT8_E5M2)
FLOAT16 = Dtype("float16", 2, FLOATING)
BFLOAT16 = Dtype("bfloat16", 2, FLOATING)
FLOAT32 = Dtype("float32", 4, FLOATING)
FLOAT64 = Dtype("float64", 8, FLOATING)
COMPLEX64 = Dtype("complex64", 8, COMPLEX)
COMPLEX128 = Dtype("complex128", 16, COMPLEX)

DTYPES = {
    each.name: each
    for each in (
        *(BOOL, UINT8, INT8, INT16, INT32, INT64),
        *FLOAT8,
        *(FLOAT16, BFLOAT16, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128),
    )
}

# What a Python number is taken for where no tensor of its kind is there.
DEFAULTS = (BOOL, INT64, FLOAT32, COMPLEX64)


def promote(first: Dtype, second: Dtype) -> Dtype:
    """The type of a result of two tensors that both have dimensions.

    >>> promote(BFLOAT16, FLOAT32), promote(BFLOAT16, FLOAT16), promote(INT64, BFLOAT16)
    (float32, float32, bfloat16)

    Raises ValueError if PyTorch has no rule.
    """
    if first is second:
        return first
    if first in FLOAT8 or second in FLOAT8:
        raise ValueError(f"promotion of {first} and {second} is not supported")
    if first.kind != second.kind:
        high, low = (first, second) if first.kind > second.kind else (second, first)
        if high.kind == COMPLEX and low is FLOAT64:
            return COMPLEX128
        return high
    if first.itemsize == second.itemsize:
        return FLOAT32 if first.kind == FLOATING else INT16  # bfloat16 and float16; uint8 and int8
    return first if first.itemsize > second.itemsize else second


# The types that PyTorch and numpy make of Python's own.
OF_PYTHON: dict[object, Dtype] = {float: FLOAT64, int: INT64, bool: BOOL}


def kind_of(number: Number) -> int:
    """The kind of a Python number."""
    if isinstance(number, bool):
        return BOOLEAN
    if isinstance(number, int):
        return INTEGER
    return FLOATING if isinstance(number, float) else COMPLEX
