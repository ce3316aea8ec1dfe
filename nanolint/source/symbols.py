"""Operators as they are written."""

from __future__ import annotations

import libcst as cst


def symbol(operator: cst.CSTNode) -> str:
    """The operator of an expression (``*``, ``not in``), or of ``*=`` without its ``=``."""
    return _SYMBOLS[type(operator)]


_SYMBOLS: dict[type[cst.CSTNode], str] = {
    cst.Add: "+",
    cst.AddAssign: "+",
    cst.BitAnd: "&",
    cst.BitAndAssign: "&",
    cst.BitInvert: "~",
    cst.BitOr: "|",
    cst.BitOrAssign: "|",
    cst.BitXor: "^",
    cst.BitXorAssign: "^",
    cst.Divide: "/",
    cst.DivideAssign: "/",
    cst.Equal: "==",
    cst.FloorDivide: "//",
    cst.FloorDivideAssign: "//",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.In: "in",
    cst.Is: "is",
    cst.IsNot: "is not",
    cst.LeftShift: "<<",
    cst.LeftShiftAssign: "<<",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.MatrixMultiply: "@",
    cst.MatrixMultiplyAssign: "@",
    cst.Minus: "-",
    cst.Modulo: "%",
    cst.ModuloAssign: "%",
    cst.Multiply: "*",
    cst.MultiplyAssign: "*",
    cst.Not: "not",
    cst.NotEqual: "!=",
    cst.NotIn: "not in",
    cst.Plus: "+",
    cst.Power: "**",
    cst.PowerAssign: "**",
    cst.RightShift: ">>",
    cst.RightShiftAssign: ">>",
    cst.Subtract: "-",
    cst.SubtractAssign: "-",
}
