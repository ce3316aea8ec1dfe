"""Attributes in which a model keeps tensors of its forward pass, beyond the pass itself."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.run.trust import Doubt, Subject

if TYPE_CHECKING:
    from pathlib import Path


def kept_tensors(tree: ast.Module, path: Path) -> tuple[Doubt, ...]:
    """A doubt for each attribute that a ``forward`` sets: ``self.att_amps = att``.

    What it holds stays on the card until the next call, in each layer that has it.
    """
    kept: dict[str, Doubt] = {}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or function.name != "forward":
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant):
                for target in node.targets:
                    if _is_own(target):
                        name = ast.unparse(target)
                        text = f"{name} keeps a tensor of the forward pass alive"
                        kept.setdefault(name, Doubt(Subject.PIECE, text, path, node.lineno))
    return tuple(kept.values())


def _is_own(target: ast.expr) -> bool:
    return (
        isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
    )
