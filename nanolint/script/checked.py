"""Facts that a script checks: if the other branch of a comparison ends the run, both sides
are equal: ``if tokenizer.vocab_size() != V: raise ...``, ``assert meta["n"] == V``."""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import TYPE_CHECKING

from nanolint.interpreter.values import Unknown
from nanolint.script import tokenizers
from nanolint.script.reaching import rebind
from nanolint.source.python import of_node
from nanolint.tape.symbolic import Symbolic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

EXITS = frozenset({"exit", "quit", "_exit", "abort"})


def ends(body: Sequence[ast.stmt]) -> bool:
    """Whether a branch ends the run: it raises, or leaves by ``sys.exit``."""
    last = body[-1] if body else None
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        called = last.value.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        return name in EXITS
    return isinstance(last, ast.Raise)


@of_node
def exits(node: ast.If) -> bool:
    """Whether the program ends if a test holds, by ``sys.exit`` or SystemExit."""
    last = node.body[-1]
    if not isinstance(last, ast.Raise):
        return ends(node.body)
    raised = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
    return isinstance(raised, ast.Name) and raised.id == SystemExit.__name__


def learn(machine: Script, test: ast.expr, frame: Frame, *, holds: bool) -> None:
    """Take the sides of comparisons for equal if ``test``, which came out as ``holds``, says so."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        learn(machine, test.operand, frame, holds=not holds)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if holds else ast.Or):
        for each in test.values:
            learn(machine, each, frame, holds=holds)
    elif isinstance(test, ast.Compare) and (holds or len(test.ops) == 1):
        sides = pairwise((test.left, *test.comparators))
        for op, (left, right) in zip(test.ops, sides, strict=True):
            if isinstance(op, ast.Eq if holds else ast.NotEq):
                _equal(machine, left, right, frame)
                _equal(machine, right, left, frame)


def _equal(machine: Script, unknown: ast.expr, known: ast.expr, frame: Frame) -> None:
    """Bind ``unknown`` to the value of ``known``, if it is known."""
    if _may_do_something(known):
        return
    value = machine.evaluate(known, frame)
    if isinstance(value, (int, float, str, Symbolic)):
        _bind(machine, unknown, value, frame)


def _bind(machine: Script, node: ast.expr, value: Value, frame: Frame) -> None:
    if isinstance(node, ast.Name):
        if isinstance(frame.find(node.id), Unknown):
            rebind(frame, node.id, value)
        return
    if isinstance(node, ast.Call):
        _bind_size(machine, node, value, frame)
        return
    if _may_do_something(node):
        return
    if isinstance(node, ast.Attribute):
        owner = machine.evaluate(node.value, frame)
        if isinstance(owner, tokenizers.KINDS):
            tokenizers.settle(owner, node.attr, value)
        elif isinstance(machine.evaluate(node, frame), Unknown):
            machine.set_attribute(owner, node.attr, value)
    elif isinstance(node, ast.Subscript):
        owner, index = machine.evaluate(node.value, frame), machine.evaluate(node.slice, frame)
        if type(owner) is dict and isinstance(index, str) and isinstance(owner.get(index), Unknown):
            machine.set_item(owner, index, value)


def _may_do_something(node: ast.expr) -> bool:
    return any(isinstance(each, (ast.Call, ast.NamedExpr)) for each in ast.walk(node))


def _bind_size(machine: Script, node: ast.Call, value: Value, frame: Frame) -> None:
    """``tokenizer.vocab_size()``, ``len(tokenizer)``, also in ``int()``."""
    called, given = node.func, node.args
    if isinstance(called, ast.Attribute) and not given and not node.keywords:
        owner, name = called.value, called.attr
    elif isinstance(called, ast.Name) and called.id in ("int", "len") and len(given) == 1:
        owner, name = given[0], "__len__"
        if called.id == "int":
            if isinstance(owner, ast.Call):
                _bind_size(machine, owner, value, frame)
            return
    else:
        return
    if not _may_do_something(owner):
        tokenizer = machine.evaluate(owner, frame)
        if isinstance(tokenizer, tokenizers.KINDS):
            tokenizers.settle(tokenizer, name, value)
