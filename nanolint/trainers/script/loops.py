"""Loops: followed turn by turn where they have few turns and train nothing, else once for all."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number
from nanolint.source.python import of_node
from nanolint.trainers.script import unknown_reasons
from nanolint.trainers.script.comprehensions import repeating, turns
from nanolint.trainers.script.conditions import truth, turn
from nanolint.trainers.script.core import GOES_ON, Flow, Loop
from nanolint.trainers.script.modules import calls, changed_in
from nanolint.trainers.script.operations import repeated, scalar
from nanolint.trainers.script.things import COUNT, TERMS, Repeated, Row, Scope, Table, Tensor, Thing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.trainers.script.core import Core

MOST_TURNS = 16  # of a loop that is followed turn by turn
DEEPEST_SETTINGS = 4  # of loops in loops that set attributes: tables in tables


def _for(core: Core, statement: ast.For, scope: Scope) -> Flow:
    over = repeated(core.value(statement.iter, scope))
    trains = calls(statement, "backward")
    count = over.count if isinstance(over, Repeated) else None
    items = None if trains else _turns(core, over, statement, scope)
    leave = repeating(core, over)
    if items is not None:
        flow = _unrolled(core, statement, items, scope)
    else:
        place = scope.source.at(statement.iter)
        item = core.next_of(over, place)
        if isinstance(item, TERMS):
            item = NotKnown(unknown_reasons.CHANGES, place.path, place.line)
        core.bind(statement.target, item, scope)
        if isinstance(over, Tensor) and over.shape:
            count = over.shape[0]
        counted = not trains or isinstance(statement.iter, ast.Call) or isinstance(over, Tensor)
        flow = _turn(core, statement, count if counted else None, scope)
    leave()
    return flow


def _turns(core: Core, over: Thing, statement: ast.For, scope: Scope) -> Sequence[Thing] | None:
    """What a loop that trains nothing is followed with, turn by turn, where it has few.

    Within such a loop no other is, but one that sets attributes: loops in loops are about data,
    not about settings.
    """
    if _fills_tensors(statement, scope):
        return None
    sets = _sets_attributes(statement)
    if core.state.unrolled >= (DEEPEST_SETTINGS if sets else 1) and not core.state.building:
        return None
    if core.state.building or isinstance(over, (Row, Table)):
        items = turns(core, over, statement.iter, scope)
        return items if items is None or core.state.building or sets else items[:MOST_TURNS]
    count = scalar(over.count) if isinstance(over, Repeated) else None
    if not isinstance(count, int) or isinstance(count, bool) or not 0 < count <= MOST_TURNS:
        return None
    if not _only_counts(statement):
        return None
    return [Number(each) for each in range(count)]


@of_node
def _sets_attributes(statement: ast.For) -> bool:
    """Whether a loop is about settings: ``for key, value in table.items(): setattr(...)``."""
    return any(
        isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "setattr"
        for each in ast.walk(statement)
    )


def _fills_tensors(statement: ast.For, scope: Scope) -> bool:
    """Whether a loop, and what loops are in it, does nothing but set elements of tensors, by names
    of its own: ``for at in range(T): angle = at * speed; table[at, 0] = cos(angle)``."""
    stored = False
    for each in statement.body:
        if isinstance(each, ast.For):
            if not _fills_tensors(each, scope):
                return False
            stored = True
        elif not isinstance(each, ast.Assign):
            return False
        else:
            for target in each.targets:
                if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                    if not isinstance(scope.names.get(target.value.id), Tensor):
                        return False
                    stored = True
                elif not isinstance(target, ast.Name) or target.id in scope.names:
                    return False
    return stored and not statement.orelse


def _unrolled(core: Core, statement: ast.For, items: Sequence[Thing], scope: Scope) -> Flow:
    core.state.unrolled += 1
    try:
        for item in items:
            core.bind(statement.target, item, scope)
            flow = core.run(statement.body, scope)
            if flow.how == "break":
                return GOES_ON
            if flow.how in ("return", "stop"):
                return flow
    finally:
        core.state.unrolled -= 1
    return core.run(statement.orelse, scope)


def _while(core: Core, statement: ast.While, scope: Scope) -> Flow:
    """A loop that counts is followed turn by turn; any other is taken once."""
    if not calls(statement, "backward") and _only_counts(statement):
        for _ in range(4 * MOST_TURNS):
            test = core.value(statement.test, scope)
            known = truth(test)
            if known is None or not isinstance(test, TERMS) or isinstance(test, Number):
                break
            turn(core, test, known, statement.test, scope)
            if not known:
                return GOES_ON
            flow = core.run(statement.body, scope)
            if flow.how == "break":
                return GOES_ON
            if flow.how in ("return", "stop"):
                return flow
    flow = _turn(core, statement, None, scope)
    _fill_up(core, statement.test, scope)
    return flow


def _fill_up(core: Core, test: ast.expr, scope: Scope) -> None:
    """Behind ``while len(rows) < N`` a list that is filled in the loop has N items."""
    for each in test.values if isinstance(test, ast.BoolOp) else [test]:
        if not isinstance(each, ast.Compare) or not isinstance(each.ops[0], ast.Lt):
            continue
        counted = each.left
        if isinstance(counted, ast.Call) and ast.unparse(counted.func) == "len" and counted.args:
            filled = core.value(counted.args[0], scope)
            count = core.value(each.comparators[0], scope)
            is_told = isinstance(count, (NotKnown, *TERMS))
            if isinstance(filled, Row) and filled.count is not None and is_told:
                core.state.journal.write(filled.slot, COUNT, count)


def _only_counts(statement: ast.For | ast.While) -> bool:
    """Whether a loop does nothing but set names, until one of them is right."""
    return all(isinstance(each, (ast.Assign, ast.AugAssign)) for each in statement.body)


def _turn(core: Core, statement: ast.For | ast.While, count: Thing | None, scope: Scope) -> Flow:
    """One turn that stands for all. Where it counts up what is no name of its own, an attribute or
    an entry, it is followed once more: that has another value in each."""
    changed = NotKnown(unknown_reasons.CHANGES, scope.source.path, statement.lineno)
    for name in changed_in(statement):
        if name in scope.names and isinstance(scope.names[name], TERMS):
            core.state.journal.write(scope.names, name, changed)
    loop = Loop(statement, scope.source.at(statement), count, calls(statement, "backward"))
    if core.state.loops:
        return _once(core, loop, statement, scope)
    before = core.state.before()
    flow = _once(core, loop, statement, scope)
    if core.state.counted and core.state.has_trained(before):
        counted = list(core.state.counted)
        core.state.return_to(before)
        for holder, key in counted:
            if isinstance(holder.get(key), TERMS):
                core.state.journal.write(holder, key, changed)
        flow = _once(core, loop, statement, scope)
    core.state.counted.clear()
    return flow


def _once(core: Core, loop: Loop, statement: ast.For | ast.While, scope: Scope) -> Flow:
    core.state.loops.append(loop)
    try:
        flow = core.run(statement.body, scope)
    finally:
        core.state.loops.pop()
    return flow if flow.how in ("return", "stop") else GOES_ON


HANDLERS: dict[type[ast.stmt], Callable[..., Flow]] = {
    ast.AsyncFor: _for,
    ast.For: _for,
    ast.While: _while,
}
