"""Loops whose turns may end early, as only a run tells: ``if row in seen: continue``.

Their turns are read to the end; how many elements they put into lists, and what they count, is
not known after them. ``while len(rows) < count`` ends with so many rows whatever its turns do.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.values import Instance, Unread
from nanolint.interpreter.watched import Index
from nanolint.script.changes import changed, changed_of
from nanolint.script.forgetting import rebind
from nanolint.script.reaching import holds_card, trains
from nanolint.source.python import of_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Unknown, Value
    from nanolint.script.machine import Script

CONTAINERS = (list, dict, set)
MOST = 1_000_000  # elements


def forget_counted(machine: Script, node: ast.For | ast.While, frame: Frame, why: Unknown) -> None:
    """Makes unknown what a loop counted and put into lists, as its turns may have ended earlier.

    One that trains, or that learns nothing, is taken for its longest.
    """
    if not machine.card.grad_enabled or trains(node, frame):
        return
    full = filled_to(node)
    for name in _counters(node):
        value = frame.find(name)
        if isinstance(value, (int, float)):
            frame.store(name, Index(why.reason, why.place, object()))
    for name in changed(node):
        if name != (full and full[0]) and isinstance(frame.find(name), CONTAINERS):
            _check(machine, frame.find(name), why)
            rebind(frame, name, why)
    for owner, attribute in changed_of(node):
        holder = frame.find(owner)
        held = holder.attributes.get(attribute) if isinstance(holder, Instance) else None
        if isinstance(held, CONTAINERS):
            _check(machine, held, why)
            machine.set_attribute(holder, attribute, why)


def _check(machine: Script, container: Value, why: Unknown) -> None:
    """Raise Unread where a container holds something on the card: how much is not known."""
    if holds_card(machine, container):
        error: Unread = why.unread()
        error.decided = True
        raise error


def filled(machine: Script, node: ast.stmt, frame: Frame) -> tuple[str, list[Value]] | None:
    """Returns the list that ``while len(rows) < count: ... rows.append(row)`` ends with, if its
    turns cannot be read: so many rows, each as the last that was made. None for any other
    statement."""
    full = filled_to(node) if isinstance(node, ast.While) else None
    if full is None:
        return None
    name, count, added = full
    found = machine.evaluate(count, frame)
    row = frame.find(added.id) if isinstance(added, ast.Name) else MISSING
    if type(found) is not int or not 0 < found <= MOST or row is MISSING:
        return None
    machine.bounded(found)
    return name, [row] * found


@of_node
def filled_to(node: ast.For | ast.While) -> tuple[str, ast.expr, ast.expr] | None:
    """The list that a loop fills to a number of elements, one in a turn at most; the number, and
    what it puts there."""
    test = node.test if isinstance(node, ast.While) else None
    if not isinstance(test, ast.Compare) or [type(each) for each in test.ops] != [ast.Lt]:
        return None
    counted, count = test.left, test.comparators[0]
    given = counted.args if isinstance(counted, ast.Call) else []
    name = given[0].id if len(given) == 1 and isinstance(given[0], ast.Name) else ""
    if not _is_length(counted, name) or not isinstance(count, (ast.Name, ast.Constant)):
        return None
    named = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name]
    appended = list(_appended(node.body, name))
    asked = [each for each in ast.walk(node) if _is_length(each, name)]
    is_all = len(named) == len(appended) + len(asked)
    added = appended[0].args if len(appended) == 1 else []
    return (name, count, added[0]) if is_all and len(added) == 1 else None


def _appended(body: list[ast.stmt], name: str) -> Iterator[ast.Call]:
    """The calls of ``name.append`` that a turn makes once at most."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _appended([*statement.body, *statement.orelse], name)
            continue
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func) == f"{name}.append":
            yield call


def _is_length(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node) == f"len({name})"


@of_node
def _counters(node: ast.stmt) -> tuple[str, ...]:
    """The names that a loop works out from themselves: ``count += 1``."""
    counted = (each.target for each in ast.walk(node) if isinstance(each, ast.AugAssign))
    return tuple(dict.fromkeys(each.id for each in counted if isinstance(each, ast.Name)))
