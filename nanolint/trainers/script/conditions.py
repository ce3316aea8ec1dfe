"""What is true, what is compared, and which of two values a condition takes."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.gpus.said import UNKNOWN as CARD_NAME
from nanolint.gpus.said import says
from nanolint.run.described import ANY
from nanolint.run.equation import NotKnown, Turn
from nanolint.run.terms import Number
from nanolint.source.from_ast import OPERATORS
from nanolint.source.operations import compare
from nanolint.trainers.script import unknown_reasons
from nanolint.trainers.script.modules import follows_from_turns
from nanolint.trainers.script.operations import made, merged, scalar, unknown_at
from nanolint.trainers.script.things import (
    REST,
    TERMS,
    External,
    Instance,
    Repeated,
    Row,
    Scope,
    Table,
    Tensor,
    Thing,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.trainers.script.core import Core

_COMPARISONS = {**OPERATORS, ast.Is: "==", ast.IsNot: "!="}


def turn(core: Core, condition: Thing, taken: bool, node: ast.expr, scope: Scope) -> None:
    """Note a condition that decided which way the script went."""
    if isinstance(condition, TERMS) and not isinstance(condition, Number):
        core.state.turns.append(Turn(condition, taken, scope.source.at(node)))


def truth(thing: Thing) -> bool | None:
    """Whether Python takes a thing for true, None where only a run tells."""
    if isinstance(thing, TERMS):
        return bool(thing.value)
    if isinstance(thing, Row):
        return bool(thing.items) if thing.count is None else None
    if isinstance(thing, Table):
        return True if thing.entries.keys() - {REST} else None if REST in thing.entries else False
    if isinstance(thing, NotKnown) and thing.like.strip(ANY):
        return True  # a text that is not empty
    if isinstance(thing, (NotKnown, Tensor, Repeated)):
        return None
    if isinstance(thing, Instance) and isinstance(thing.of, External):
        return True if thing.of.last[:1].isupper() else None
    return True


def period_of(core: Core, test: ast.expr, scope: Scope) -> Thing | None:
    """N of a condition that is met every N-th time: ``(step + 1) % N == 0``."""
    for node in ast.walk(test):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            loop = next((each.node for each in core.state.loops if each.trains), None)
            names = {each.id for each in ast.walk(node.right) if isinstance(each, ast.Name)}
            if loop is not None and names & follows_from_turns(loop):
                return unknown_at(unknown_reasons.CHANGES, node, scope)
            return core.value(node.right, scope)
    return None


def _boolean(core: Core, node: ast.BoolOp, scope: Scope) -> Thing:
    """The first operand that decides. One that is not known leaves it open, unless a later one
    decides all the same."""
    decides = isinstance(node.op, ast.Or)
    unknown: Thing | None = None
    value: Thing = Number(decides)
    for operand in node.values:
        value = core.value(operand, scope)
        known = truth(value)
        if known is None:
            unknown = unknown or value
        elif known is decides:
            turn(core, value, known, operand, scope)
            return Number(decides) if unknown else value
        else:
            turn(core, value, known, operand, scope)
    if unknown is None:
        return value
    return unknown if isinstance(unknown, NotKnown) else unknown_at("a test", node, scope)


def _comparison(core: Core, node: ast.Compare, scope: Scope) -> Thing:
    result: Thing = Number(value=True)
    left = first = core.value(node.left, scope)
    for operator, comparator in zip(node.ops, node.comparators, strict=True):
        right = core.value(comparator, scope)
        found = _compared(core, operator, left, right, node, scope)
        if isinstance(found, NotKnown):
            period = period_of(core, node, scope)
            return replace(found, period=period) if isinstance(period, TERMS) else found
        if not scalar(found):
            return found
        result = found if left is first else made("and", (result, found), None, 0)
        left = right
    return result


def _compared(
    core: Core, operator: ast.cmpop, left: Thing, right: Thing, node: ast.Compare, scope: Scope
) -> Thing:
    if isinstance(operator, (ast.In, ast.NotIn)):
        if isinstance(right, External) and right.name == "os.environ":
            found = core.has_variable(left)
        else:
            found = _contained(left, right)
            if isinstance(right, NotKnown) and right.reason == CARD_NAME:
                found = says(right.like.strip(ANY), str(scalar(left)))
        if found is None:
            return unknown_at(unknown_reasons.CONDITION, node, scope)
        return Number(found is isinstance(operator, ast.In))
    for one, other in ((left, right), (right, left)):
        nothing = isinstance(other, Number) and other.value is None
        if nothing and not isinstance(one, (NotKnown, *TERMS)):
            return Number(isinstance(operator, (ast.IsNot, ast.NotEq)))
    if isinstance(left, Row) and isinstance(right, Row):
        pairs = [[scalar(each) for each in side.items] for side in (left, right)]
        if all(isinstance(each, TERMS) for side in (left, right) for each in side.items):
            symbol = _COMPARISONS[type(operator)]
            return Number(compare(symbol, tuple(pairs[0]), tuple(pairs[1])))
    if isinstance(left, External) and isinstance(right, External):
        same = left.name == right.name
        return Number(same is isinstance(operator, (ast.Eq, ast.Is)))
    return made(_COMPARISONS[type(operator)], (left, right), scope.source.path, node.lineno)


def _contained(item: Thing, container: Thing) -> bool | None:
    if not isinstance(item, TERMS):
        return None
    if isinstance(container, Row) and container.count is None:
        if all(isinstance(each, TERMS) for each in container.items):
            return item.value in [scalar(each) for each in container.items]
    elif isinstance(container, Table):
        if item.value in container.entries:
            return True
        return None if REST in container.entries else False
    elif isinstance(scalar(container), str) and isinstance(item.value, str):
        return item.value in str(scalar(container))
    return None


def _choice(core: Core, node: ast.IfExp, scope: Scope) -> Thing:
    test = core.value(node.test, scope)
    known = truth(test)
    if known is not None:
        turn(core, test, known, node.test, scope)
        return core.value(node.body if known else node.orelse, scope)
    body, orelse = core.value(node.body, scope), core.value(node.orelse, scope)
    why = test if isinstance(test, NotKnown) else unknown_at("a condition", node, scope)
    return merged(body, orelse, why) or why


HANDLERS: dict[type[ast.expr], Callable[..., Thing]] = {
    ast.BoolOp: _boolean,
    ast.Compare: _comparison,
    ast.IfExp: _choice,
}
