"""Lists, dictionaries and sets that loops fill: turns that are not read would put more there.

Numbers, and tensors of one element, as losses are, may stand for those of all turns. Tensors of
more may be made one later, which then has as many rows as the loop has turns: those of the host
are put there again. A list may get the tokens of texts, over data which is not known.
"""

from __future__ import annotations

import ast
from math import prod
from typing import TYPE_CHECKING

from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.values import Function, Instance, Method
from nanolint.script import corpora
from nanolint.script.changes import called, loaded
from nanolint.script.reaching import rebind
from nanolint.source.python import of_node
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script
    from nanolint.tensors.device import Device

DEPTH = 3  # of what holds what
MOST = 50  # elements of one that are looked into

Sizes = dict[int, int]  # by identity: to hold one would keep the tensors in it


def sizes(node: ast.For, frame: Frame) -> Sizes:
    """How many elements each has that a loop, or a function that it calls, names."""
    return {id(each): len(each) for each in _containers(node, frame)}


def repeated(
    before: Sizes, node: ast.For, frame: Frame, host: Device
) -> list[tuple[list[Value], list[Value]]] | None:
    """The lists that a turn put tensors of more than one element into, with what it put there, to
    be put there again for each turn that is left out: tensors of the host, like those of the turn
    before. None if it put others there, or put them into something else than a list."""
    found = []
    for each in _containers(node, frame):
        more = len(each) - before.get(id(each), len(each))
        held = list(each.values() if isinstance(each, dict) else each)
        if more <= 0 or not any(_has_rows(one, DEPTH) for one in held[-MOST:]):
            continue
        last, earlier = held[-more:], held[-2 * more : -more]
        kinds = [
            (_kind(one, host), _kind(other, host))
            for one, other in zip(last, earlier, strict=False)
        ]
        if not isinstance(each, list) or len(earlier) < more:
            return None
        if any(one is None or one != other for one, other in kinds):
            return None
        found.append((each, last))
    return found


def _kind(value: Value, host: Device) -> Value:
    """What makes two tensors of the host alike; None of anything else."""
    of_host = isinstance(value, Tensor) and value.device is host
    return (value.shape, value.strides, value.dtype) if of_host else None


def _containers(node: ast.For, frame: Frame) -> list[Value]:
    found: dict[int, Value] = {}
    for value in _named(node, frame):
        if isinstance(value, Instance) and value.native is None:
            for each in value.attributes.values():
                _add(each, found, DEPTH - 1)
        else:
            _add(value, found, DEPTH)
    return list(found.values())


def _named(node: ast.For, frame: Frame) -> Iterator[Value]:
    for name in loaded(node):
        yield frame.find(name)
    for name in called(node):
        function = frame.find(name)
        function = function.function if isinstance(function, Method) else function
        if isinstance(function, Function):
            for inner in loaded(function.node):
                if function.closure is not None:
                    yield function.closure.find(inner)
                else:
                    yield function.module.names.get(inner, MISSING)


def _add(value: Value, found: dict[int, Value], depth: int) -> None:
    if not isinstance(value, (list, dict, set)) or id(value) in found or depth == 0:
        return
    found[id(value)] = value
    for each in list(value.values() if isinstance(value, dict) else value)[-MOST:]:
        _add(each, found, depth - 1)


def _has_rows(value: Value, depth: int) -> bool:
    if isinstance(value, Tensor):
        return prod(value.shape) > 1
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, (list, tuple)) or depth == 0:
        return False
    return any(_has_rows(each, depth - 1) for each in value[-MOST:])


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
