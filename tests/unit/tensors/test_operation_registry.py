"""An operation is one record: two are never taken for one by what people read of them."""

from __future__ import annotations

import ast
from functools import partial
from pathlib import Path

import pytest

import nanolint
from nanolint.tensors.names import FUNCTIONAL, FUNCTIONS, METHODS
from nanolint.tensors.ops import registry
from nanolint.tensors.ops.registry import Op

NAMED = [each for each in vars(registry).values() if isinstance(each, Op)]
OPS = [*NAMED, *(each.gradient for each in NAMED if each.gradient and each.gradient not in NAMED)]
PACKAGE = Path(nanolint.__file__).parent
INDUCTOR = PACKAGE / "inductor"
BITS = ("and", "or", "xor")
TEXTS = frozenset({"label", "aten", "name", "what"})
# What decides by a text that it is called on, or given.
DECIDING = frozenset(
    {"get", "startswith", "endswith", "split", "partition", "removesuffix", "removeprefix"}
)


def test_each_operation_has_a_name_of_its_own_and_is_equal_to_no_other() -> None:
    assert len({each.aten for each in OPS}) == len({*OPS}) == len(OPS) > 150
    assert Op("aten.floor", "rounded down") != registry.FLOOR
    shared = [each for each in OPS if each.label == registry.EQ.label]
    assert len({*shared}) == len(shared) > 10


def test_a_function_that_is_told_its_operation_is_told_the_one_of_its_name() -> None:
    told = {
        name.strip("_").replace("arc", "a"): function.keywords["op"].aten
        for name, function in {**FUNCTIONS, **FUNCTIONAL, **METHODS}.items()
        if isinstance(function, partial) and "op" in function.keywords
    }
    bits = {f"{side}{name}": f"aten.bitwise_{name}" for name in BITS for side in ("", "r")}
    assert told == {name: bits.get(name, f"aten.{name}") for name in told}
    assert {"floor", "ceil", "gt", "silu", "rand"} <= told.keys()


def test_each_function_that_a_formula_stands_for_has_a_name_of_its_own() -> None:
    names = [
        node.name
        for path in PACKAGE.joinpath("tensors").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        and any("traced" in ast.unparse(each) for each in node.decorator_list)
    ]
    assert len(names) == len({*names}) > 50


def decided_by_text(text: str) -> list[int]:
    """The lines on which a label, or a name, of something decides."""
    found = []
    for node in ast.walk(ast.parse(text)):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
            if any(map(is_of_text, asked)) and not any(map(is_text, asked)):
                asked = []  # two names of memory, for one
        elif isinstance(node, ast.Subscript):
            asked = [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            asked = [node.func.value, *node.args] if node.func.attr in DECIDING else []
        found += [each.lineno for each in asked if is_of_text(each)]
    return found


def is_of_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in TEXTS


def is_text(node: ast.expr) -> bool:
    """A text, texts, or a constant, which may be of texts."""
    if isinstance(node, (ast.Set, ast.Tuple, ast.List)):
        return any(map(is_text, node.elts))
    if isinstance(node, ast.Name):
        return node.id.isupper()
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


@pytest.mark.parametrize(
    "text",
    [
        'each.name == "cat"',
        "each.label in KEPT_NAMES",
        'op.aten not in {"aten.cat", "aten.pad"}',
        'user.name == f"arg{each.name[1:]}"',
        "IDLE[each.name]",
        "LYING_AS.get(each.op.label, {})",
        'kernel.what.split()[0] == "sum"',
        'each.label.startswith("hyperbolic")',
    ],
)
def test_such_tests_are_found(text: str) -> None:
    assert decided_by_text(text)


def test_no_text_decides_in_a_compiled_graph() -> None:
    found = {
        f"{path.relative_to(INDUCTOR)}:{line}"
        for path in INDUCTOR.rglob("*.py")
        for line in decided_by_text(path.read_text())
    }
    assert found == set()
