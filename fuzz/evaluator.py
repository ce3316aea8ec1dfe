"""Expressions: what nanolint says that one is worth, Python says too."""

from __future__ import annotations

import ast
import warnings

from harness import run, text_of, watched

with watched():
    from nanolint.source.parse import Unparsable, parse
    from nanolint.source.scan import TooComplex
    from nanolint.source.values import Known

# Without names, calls and attributes an expression reaches nothing outside itself. Nothing is
# evaluated here but what nanolint has evaluated within its bounds.
REACHING_OUT = (ast.Name, ast.Call, ast.Attribute, ast.Await, ast.NamedExpr, ast.Lambda)


def one_input(data: bytes) -> None:
    expression = text_of(data).strip().replace("\n", " ").replace("\r", " ")
    try:
        module = parse(f"key = ({expression})\n", {}, None)
    except (Unparsable, TooComplex):
        return
    value = module.final.get("key")
    if len(module.assignments) != 1 or not isinstance(value, Known):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(f"({expression})", mode="eval")
        except (SyntaxError, ValueError):
            return  # such as a parenthesis that closes ours: then it was no expression
        if any(isinstance(node, REACHING_OUT) for node in ast.walk(tree)):
            return
        expected = eval(compile(tree, "<fuzz>", "eval"), {"__builtins__": {}})
    assert repr(expected) == repr(value.value), (expression, expected, value.value)


if __name__ == "__main__":
    run(one_input)
