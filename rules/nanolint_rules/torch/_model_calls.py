"""Calls of the model whose first result, the logits, nobody looks at."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from nanolint_rules.torch._names import found_in
from nanolint_rules.torch._plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    import libcst as cst

    from nanolint.rule import Context
    from nanolint_rules.torch._names import Names
else:
    from nanolint_rules.torch import _cst as cst

# raw_model(...), self.model(...), model.module(...); not load_model(...).
_MODEL = re.compile(r"(?!(?:load|make|create|build|get|init|setup|train|eval)_)(\w+_)?model|module")


class ModelCall(NamedTuple):
    """``logits, loss = model(X, Y)``. ``outlives`` says in words what its logits live to see."""

    statement: cst.Assign
    logits: cst.Name
    outlives: str

    @property
    def in_evaluation(self) -> bool:
        """Whether no backward pass follows."""
        return "backward" not in self.outlives


def unread_logits(context: Context, resolved: Names) -> Iterator[ModelCall]:
    """The calls in a training or evaluation loop after which the logits only take up memory."""
    text = plain(context.text)
    if text.tree is not None and not any(map(_may_be_call, text.nodes)):
        return
    calls = [
        (statement, logits)
        for statement in found_in(context.tree, cst.Assign)
        if (logits := _logits(statement)) is not None
    ]
    names = {logits for _, logits in calls}
    for statement, logits in calls:
        outlives = _outlives(statement, resolved)
        # Given another value anywhere, they may be dead before anything outlives them.
        only_logits = set(resolved.gets_values_at(logits)) <= names
        if outlives is not None and only_logits and not resolved.is_read(logits):
            yield ModelCall(statement, logits, outlives)


def _may_be_call(node: ast.AST) -> bool:
    """Whether ``_logits`` may find something in a statement of Python's own tree."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
        return False
    function, target = node.value.func, node.targets[0]
    name = function.attr if isinstance(function, ast.Attribute) else None
    name = function.id if isinstance(function, ast.Name) else name
    pair = isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == 2
    return pair and name is not None and _MODEL.fullmatch(name) is not None


def _logits(statement: cst.Assign) -> cst.Name | None:
    """The first of two results of a call of the model on inputs and targets."""
    call, targets = statement.value, [each.target for each in statement.targets]
    if not isinstance(call, cst.Call) or len(call.args) < 2 or len(targets) != 1:
        return None
    if not isinstance(targets[0], (cst.Tuple, cst.List)) or not _is_model(call.func):
        return None
    results = [element.value for element in targets[0].elements]
    if len(results) != 2 or not isinstance(results[0], cst.Name):
        return None
    return results[0]


def _is_model(function: cst.BaseExpression) -> bool:
    name = function.attr if isinstance(function, cst.Attribute) else function
    return isinstance(name, cst.Name) and _MODEL.fullmatch(name.value) is not None


def _outlives(statement: cst.Assign, resolved: Names) -> str | None:
    """What comes while the name still holds the logits, None outside training and evaluation."""
    outermost, looped = _surroundings(statement, resolved)
    methods = {
        call.func.attr.value
        for call in found_in(outermost, cst.Call)
        if isinstance(call.func, cst.Attribute)
    }
    if "backward" in methods:
        return "the backward pass and the next forward" if looped else "the backward pass"
    return "the next forward" if looped and "item" in methods else None


def _surroundings(statement: cst.Assign, resolved: Names) -> tuple[cst.CSTNode, bool]:
    """The outermost loop around a statement in its function, else the function; which of them."""
    loop: cst.CSTNode | None = None
    for node in resolved.ancestors(statement):
        if isinstance(node, (cst.For, cst.While)):
            loop = node
        elif isinstance(node, cst.FunctionDef):
            return loop or node, loop is not None
    return loop or statement, loop is not None
