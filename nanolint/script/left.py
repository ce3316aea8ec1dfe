"""All that a turn of a loop may leave besides blocks: what learns, counts, or waits for Python's
collector; and whether the loop says that something is let go of again."""

from __future__ import annotations

import ast
import gc
from typing import TYPE_CHECKING

from nanolint.interpreter.values import Instance
from nanolint.source.python import of_node

if TYPE_CHECKING:
    from nanolint.script.machine import Script

BOUNDS = frozenset({"pop", "popleft", "popitem", "clear", "remove"})


def learning(machine: Script) -> tuple[int, int, int]:
    """How many optimizers and groups there are, and how many elements learn."""
    groups = [
        group["params"]
        for each in machine.phases.optimizers
        for group in each.attributes.get("param_groups") or ()
        if isinstance(group, dict) and isinstance(group.get("params"), list)
    ]
    learn = sum(1 for group in groups for each in group if getattr(each, "requires_grad", False))
    return len(machine.phases.optimizers), len(groups), learn


@of_node
def counted_in(node: ast.For | ast.While) -> tuple[tuple[str, int], ...]:
    """The names that each turn of a loop adds a whole number to, once."""
    found = []
    for each in node.body:
        if isinstance(each, ast.AugAssign) and isinstance(each.op, ast.Add):
            target, by = each.target, each.value
            number = by.value if isinstance(by, ast.Constant) else None
            if isinstance(target, ast.Name) and type(number) is int and number:
                found.append((target.id, number))
    return tuple(each for each in found if [name for name, _ in found].count(each[0]) == 1)


def collected() -> str:
    """Let Python look for garbage; returns the class of an object of the program's among it."""
    debug = gc.get_debug()
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    gc.set_debug(debug)
    name = next((each.cls.name for each in gc.garbage if type(each) is Instance), "")
    gc.garbage.clear()
    gc.collect()
    return name


def line_of(name: str, node: ast.For | ast.While) -> int:
    """The line of a loop that makes an object of a class; that of the loop if none does so."""
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
    made = (
        each.lineno for each in calls if isinstance(each.func, ast.Name) and each.func.id == name
    )
    return next(made, node.lineno)


def is_bounded(node: ast.AST) -> bool:
    """Whether a loop says itself that something is let go of again."""
    for each in ast.walk(node):
        if isinstance(each, ast.Delete):
            return True
        if isinstance(each, ast.Attribute) and each.attr in BOUNDS:
            return True
    return False
