"""Operators as they are written, and small questions to libcst's nodes."""

from __future__ import annotations

import dataclasses
from functools import cache

import libcst as cst


def symbol(operator: cst.CSTNode) -> str:
    """The operator of an expression (``*``, ``not in``), or of ``*=`` without its ``=``."""
    return _SYMBOLS[type(operator)]


_OF_BOTH: dict[str, tuple[type[cst.CSTNode], ...]] = {
    "&": (cst.BitAnd, cst.BitAndAssign),
    "|": (cst.BitOr, cst.BitOrAssign),
    "^": (cst.BitXor, cst.BitXorAssign),
    "/": (cst.Divide, cst.DivideAssign),
    "//": (cst.FloorDivide, cst.FloorDivideAssign),
    "<<": (cst.LeftShift, cst.LeftShiftAssign),
    "@": (cst.MatrixMultiply, cst.MatrixMultiplyAssign),
    "%": (cst.Modulo, cst.ModuloAssign),
    "*": (cst.Multiply, cst.MultiplyAssign),
    "**": (cst.Power, cst.PowerAssign),
    ">>": (cst.RightShift, cst.RightShiftAssign),
    "+": (cst.Add, cst.AddAssign, cst.Plus),
    "-": (cst.Minus, cst.Subtract, cst.SubtractAssign),
}
_SYMBOLS: dict[type[cst.CSTNode], str] = {
    **{kind: symbol for symbol, kinds in _OF_BOTH.items() for kind in kinds},
    cst.BitInvert: "~",
    cst.Equal: "==",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.In: "in",
    cst.Is: "is",
    cst.IsNot: "is not",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.Not: "not",
    cst.NotEqual: "!=",
    cst.NotIn: "not in",
}


_PUNCTUATION = (
    "whitespace",
    "leading",
    "lines",
    "trailing",
    "header",
    "footer",
    "lpar",
    "rpar",
    "lbr",
    "rbr",
    "comma",
    "semicolon",
    "operator",
    "equal",
    "colon",
    "first_colon",
    "second_colon",
    "dot",
    "indent",
)


@cache
def code_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """The fields of a node type that hold code: neither white space nor punctuation."""
    names = (field.name for field in dataclasses.fields(kind))
    return tuple(name for name in names if not name.startswith(_PUNCTUATION))


def dotted(node: cst.BaseExpression | None) -> str:
    """The name of an imported module."""
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if isinstance(node, cst.Name):
        parts.append(node.value)
    return ".".join(reversed(parts))


def bound_name(alias: cst.ImportAlias) -> cst.Name:
    """The name that an import binds: ``c`` of ``a.b as c``, else ``a`` of ``a.b``."""
    node: cst.CSTNode = alias.asname.name if alias.asname is not None else alias.name
    while isinstance(node, cst.Attribute):
        node = node.value
    return cst.ensure_type(node, cst.Name)


def is_namespace(node: cst.CSTNode) -> bool:
    """Whether ``node`` is ``globals()`` or the like."""
    if not isinstance(node, cst.Call) or node.args or not isinstance(node.func, cst.Name):
        return False
    return node.func.value in ("globals", "locals", "vars")


def is_str_format(node: cst.CSTNode) -> bool:
    """Whether ``node`` is the ``format`` of a string literal."""
    if not isinstance(node, cst.Attribute) or node.attr.value != "format":
        return False
    return isinstance(node.value, (cst.SimpleString, cst.ConcatenatedString))
