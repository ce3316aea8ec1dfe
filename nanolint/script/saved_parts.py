"""The parts of a file that a program saves: weights, a step, the state of an optimizer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.interpreter.values import Instance, Unknown
from nanolint.source.python import nodes, of_node
from nanolint.tape.symbolic import Symbolic
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.values import Value

DEPTH = 3  # of dictionaries in dictionaries
COUNTS = frozenset({"step", "steps", "global_step", "iter", "iter_num", "iteration", "epoch"})
SAVES = frozenset({"save_pretrained", "save_state", "save_file", "save_checkpoint"})


def parts_of(value: Value, name: Value = "", depth: int = 0) -> Iterator[str]:
    """Yields the kinds of what a file holds."""
    if isinstance(value, dict) and "param_groups" in value:
        yield "optimizer"
    elif isinstance(value, dict) and value and all(isinstance(e, Tensor) for e in value.values()):
        yield "weights"
    elif isinstance(value, dict) and depth < DEPTH:
        for key, each in value.items():
            yield from parts_of(each, key, depth + 1)
    elif name in COUNTS and isinstance(value, (int, Symbolic)):
        yield "step"
    elif isinstance(value, (Tensor, Instance, Unknown)) and not _is_figure(value):
        yield "another"


def _is_figure(value: Value) -> bool:
    """Whether it is one number, such as a loss."""
    return isinstance(value, Tensor) and not value.shape


@of_node
def saves_otherwise(tree: ast.AST) -> bool:
    """Whether a program may save the state of an optimizer, or weights alone, in another way."""
    attributes = [each for each in nodes(tree) if isinstance(each, ast.Attribute)]
    return any(
        each.attr in SAVES or (each.attr == "state_dict" and "opt" in ast.unparse(each.value))
        for each in attributes
    )
