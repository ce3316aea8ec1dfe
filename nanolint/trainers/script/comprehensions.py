"""Comprehensions, and what a loop goes through turn by turn."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.run.terms import Number
from nanolint.trainers.script import unknown_reasons
from nanolint.trainers.script.conditions import truth, turn
from nanolint.trainers.script.operations import keys, made, repeated, row, scalar, unknown_at
from nanolint.trainers.script.things import REST, TERMS, Repeated, Row, Scope, Table, Tensor, Thing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.trainers.script.core import Core

MOST_ITEMS = 2000  # of a list that are followed one by one
MOST_LAYERS = 64  # of a model that are followed one by one


def _comprehension(
    core: Core, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: Scope
) -> Thing:
    if len(node.generators) != 1:
        return unknown_at(unknown_reasons.SEVERAL_LISTS, node, scope)
    generator = node.generators[0]
    over = repeated(core.value(generator.iter, scope))
    inner = Scope(scope.source, {}, scope)
    items_of = turns(core, over, generator.iter, scope)
    if items_of is not None:
        items = []
        alike = len(items_of) > 1 and _are_alike(core, generator, node.elt)
        leave = repeating(core, over)
        for item in items_of[:1] if alike else items_of:
            core.bind(generator.target, item, inner)
            tests = [truth(core.value(test, inner)) for test in generator.ifs]
            if None in tests:
                leave()
                return unknown_at(unknown_reasons.FILTERED, node, scope)
            if all(tests):
                items.append(core.value(node.elt, inner))
        leave()
        return row(items * len(items_of) if alike else items)
    count = (
        over.count
        if isinstance(over, Repeated)
        else unknown_at(unknown_reasons.LENGTH, node, scope)
    )
    if isinstance(over, Tensor) and over.shape:
        count = over.shape[0]
    core.bind(generator.target, core.next_of(over, scope.source.at(node)), inner)
    item = core.value(node.elt, inner)
    if generator.ifs:
        count = unknown_at(unknown_reasons.FILTERED, node, scope)
    return Repeated(item, count)


def _are_alike(core: Core, generator: ast.comprehension, made: ast.expr) -> bool:
    """Whether parts of a layer differ in nothing: ``[Head(width) for _ in range(heads)]``. Of
    those one is followed, for all; layers are followed one by one."""
    if generator.ifs or not any(counts for _, counts in core.state.building):
        return False
    targets = {each.id for each in ast.walk(generator.target) if isinstance(each, ast.Name)}
    return not any(isinstance(e, ast.Name) and e.id in targets for e in ast.walk(made))


def repeating(core: Core, over: Thing) -> Callable[[], object]:
    """Note that what is built now is built so often; call what is returned when it is done."""
    building = core.state.building
    if not building or not isinstance(over, Repeated):
        return lambda: None
    counts = building[-1][1]
    counts.append(over.count)
    return counts.pop


def turns(core: Core, over: Thing, node: ast.expr, scope: Scope) -> Sequence[Thing] | None:
    """What a loop is followed with, turn by turn; None where it has too many turns for that.

    Only the layers of a model are followed by their numbers: they may differ from one another.
    """
    if isinstance(over, Table) and REST not in over.entries:
        return keys(over).items
    if isinstance(over, Row):
        return over.items if len(over.items) <= MOST_ITEMS else None
    if not core.state.building or not isinstance(over, Repeated):
        return None
    count = scalar(over.count)
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= MOST_LAYERS:
        return None
    turn(core, made("==", (over.count, Number(count)), None, 0), True, node, scope)
    return [Number(each) for each in range(count)]


def _dict_comprehension(core: Core, node: ast.DictComp, scope: Scope) -> Thing:
    why = unknown_at("a dictionary filled at run time", node, scope)
    generator = node.generators[0]
    over = repeated(core.value(generator.iter, scope))
    items = turns(core, over, generator.iter, scope)
    table, inner = Table(), Scope(scope.source, {}, scope)
    if len(node.generators) == 1 and isinstance(over, Repeated) and items is None:
        core.bind(generator.target, over.item, inner)
        value = core.value(node.value, inner)
        return Table({REST: value if isinstance(value, Tensor) else why})
    if len(node.generators) != 1 or items is None:
        return Table({REST: why})
    leave = repeating(core, over)
    for item in items:
        core.bind(generator.target, item, inner)
        tests = [truth(core.value(test, inner)) for test in generator.ifs]
        if None in tests:
            table.entries[REST] = why
        elif all(tests):
            key = core.value(node.key, inner)
            value = core.value(node.value, inner)
            table.entries[scalar(key) if isinstance(key, TERMS) else REST] = value
    leave()
    return table


HANDLERS: dict[type[ast.expr], Callable[..., Thing]] = {
    ast.DictComp: _dict_comprehension,
    ast.GeneratorExp: _comprehension,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
}
