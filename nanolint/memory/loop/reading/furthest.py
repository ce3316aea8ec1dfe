"""How far a loop goes: what it asks of its number, and the last number that it goes on with."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nanolint.memory.model.reading.exceptions import CATCHABLE, let_go
from nanolint.memory.model.reading.values import Unread
from nanolint.source.python import nodes, of_node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.memory.loop.reading.machine import Script
    from nanolint.memory.model.reading.scopes import Frame


class Jump(NamedTuple):
    """A number that a loop counts by itself, and what it is compared with: where that is reached
    the loop ends (``stops``), or does something else (``turns``)."""

    counter: ast.Name
    stops: tuple[ast.expr, ...]
    turns: tuple[ast.expr, ...]


@of_node
def compares(node: ast.For) -> bool:
    """Whether what a loop does depends on how far it is: ``if step > 100``."""
    targets = {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}
    return any(True for name in targets for _ in _comparisons(nodes(node), name))


@of_node
def jumps(node: ast.While) -> tuple[Jump, ...]:
    """The numbers that a loop counts, and compares with others."""
    ends: list[ast.AST] = [node.test]
    ends += [each.test for each in nodes(node) if isinstance(each, ast.If) and _breaks(each)]
    found = {}
    for each in nodes(node):
        if isinstance(each, ast.AugAssign) and isinstance(each.op, ast.Add):
            target = each.target
            if isinstance(target, ast.Name) and target.id not in found:
                name = target.id
                stops = tuple(other for end in ends for other in _comparisons(ast.walk(end), name))
                every = tuple(_comparisons(nodes(node), name))
                turns = tuple(other for other in every if other not in stops)
                if turns:
                    found[target.id] = Jump(target, stops, turns)
    return tuple(found.values())


def jump(machine: Script, found: tuple[Jump, ...], frame: Frame) -> None:
    """Go on with the last turn that is known to come."""
    for each in found:
        now = frame.find(each.counter.id)
        stops, turns = (_numbers(machine, of, frame) for of in (each.stops, each.turns))
        if not isinstance(now, int) or not turns:
            continue
        last = min(stops) - 1 if stops else max(turns) + 1
        if last > now:
            machine.assign(each.counter, last, frame)


def _comparisons(inside: Iterable[ast.AST], name: str) -> Iterator[ast.expr]:
    """What a name is compared with."""
    for each in inside:
        if isinstance(each, ast.Compare) and len(each.comparators) == 1:
            left, right = each.left, each.comparators[0]
            for one, other in ((left, right), (right, left)):
                if isinstance(one, ast.Name) and one.id == name:
                    yield other


def _breaks(node: ast.If) -> bool:
    return any(isinstance(each, (ast.Break, ast.Return)) for each in node.body)


def _numbers(machine: Script, nodes: tuple[ast.expr, ...], frame: Frame) -> list[int]:
    found = []
    for node in nodes:
        try:
            value = machine.evaluate(node, frame)
        except (Unread, *CATCHABLE) as error:
            let_go(error)
            continue
        if isinstance(value, int):
            found.append(value)
    return found
