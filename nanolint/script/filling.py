"""Lists that a loop over data which is not known fills with the tokens of its texts."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.interpreter.values import Instance
from nanolint.script import corpora
from nanolint.script.forgetting import rebind
from nanolint.source.python import of_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.scopes import Frame
    from nanolint.script.machine import Script


def fill_with_tokens(machine: Script, node: ast.stmt, frame: Frame) -> None:
    """After a loop that was passed over: a list that it extends by tokens of texts is as long as a
    file of tokens."""
    for owner, attribute in _filled(node):
        held = frame.find(owner)
        if attribute is None:
            rebind(frame, owner, corpora.tokens(machine))
        elif isinstance(held, Instance):
            machine.set_attribute(held, attribute, corpora.tokens(machine))


@of_node
def _filled(node: ast.stmt) -> tuple[tuple[str, str | None], ...]:
    """The lists, each a name or an attribute of one: ``ids.extend(tokenizer.encode(text))``."""
    if not isinstance(node, ast.For):
        return ()
    within = list(ast.walk(node))
    encoded = {
        target.id
        for each in within
        if isinstance(each, ast.Assign) and _encodes(each.value, frozenset())
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    found = (
        owner
        for each in within
        for owner, added in _added(each)
        if _encodes(added, frozenset(encoded))
    )
    return tuple(dict.fromkeys(found))


def _added(node: ast.AST) -> Iterator[tuple[tuple[str, str | None], ast.expr]]:
    """What a node extends, and by what."""
    to, by = None, None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        to, by = (node.func.value, node.args[0]) if node.func.attr == "extend" else (None, None)
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        to, by = node.target, node.value
    if by is None:
        return
    if isinstance(to, ast.Name):
        yield (to.id, None), by
    elif isinstance(to, ast.Attribute) and isinstance(to.value, ast.Name):
        yield (to.value.id, to.attr), by


def _encodes(node: ast.expr, encoded: frozenset[str]) -> bool:
    """``tokenizer.encode(text)``, its ``ids``, a name of it, or more beside it."""
    if isinstance(node, ast.Attribute) and node.attr == "ids":
        return _encodes(node.value, encoded)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _encodes(node.left, encoded) or _encodes(node.right, encoded)
    if isinstance(node, ast.Name):
        return node.id in encoded
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in corpora.ENCODERS
