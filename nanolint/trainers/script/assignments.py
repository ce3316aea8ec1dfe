"""Assignments: what a name, an attribute or an entry is set to."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number, Surface, World
from nanolint.source.any_name import beginning
from nanolint.trainers.script.arguments import filled
from nanolint.trainers.script.core import GOES_ON, Flow, forget
from nanolint.trainers.script.definitions import given_literal
from nanolint.trainers.script.operations import row, scalar, unwrapped
from nanolint.trainers.script.things import (
    ITEMS,
    REST,
    TERMS,
    Class,
    Instance,
    Repeated,
    Row,
    Scope,
    Table,
    Tensor,
    Thing,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.trainers.script.core import Core

ANY_NAME = "any value may be set by a name that only the run has"


def _assign(core: Core, statement: ast.Assign, scope: Scope) -> Flow:
    value = core.value(statement.value, scope)
    for target in statement.targets:
        if isinstance(target, ast.Name):
            scope.written[target.id] = statement.value
        key = _key(target)
        found = value
        if key:
            found = _written(core, statement.value, value, key, scope)
        elif isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
            key, surface = str(target.slice.value), Surface.ENTRY
            found = given_literal(core, statement.value, value, key, surface, scope)
        elif _is_row(target) and _is_row(statement.value):
            found = _written_row(core, target, statement.value, value, scope)
        if isinstance(target, (ast.Attribute, ast.Subscript)) and _reads(statement.value, target):
            _count(core, target, found, scope)
        else:
            core.bind(target, found, scope)
    return GOES_ON


def _reads(value: ast.expr, target: ast.expr) -> bool:
    """Whether a value is worked out from what its target holds: ``self.step = self.step + 1``."""
    written = ast.dump(_loaded(target))
    return any(isinstance(e, type(target)) and ast.dump(e) == written for e in ast.walk(value))


def _key(target: ast.expr) -> str:
    """What people call a target: its name, with what it is an attribute of; empty for an item."""
    if isinstance(target, ast.Attribute):
        owner = _key(target.value)
        return f"{owner}.{target.attr}" if owner else target.attr
    return target.id if isinstance(target, ast.Name) else ""


def _is_row(node: ast.expr) -> bool:
    return isinstance(node, (ast.Tuple, ast.List))


def _written_row(core: Core, target: ast.expr, node: ast.expr, value: Thing, scope: Scope) -> Thing:
    """``B, T = 4, 1024``: each is given by itself."""
    names, nodes = getattr(target, "elts", []), getattr(node, "elts", [])
    if not isinstance(value, Row) or not len(names) == len(nodes) == len(value.items):
        return value
    triples = zip(names, nodes, value.items, strict=True)
    return row([_written(core, each, item, _key(name), scope) for name, each, item in triples])


def _written(core: Core, node: ast.expr, value: Thing, key: str, scope: Scope) -> Thing:
    if value == Number(1) and key in scope.source.worlds and core.state.around.world_size == 1:
        return World(1)
    return given_literal(core, node, value, key, Surface.CONSTANT, scope)


def _annotated(core: Core, statement: ast.AnnAssign, scope: Scope) -> Flow:
    if statement.value is not None:
        value = core.value(statement.value, scope)
        key = _key(statement.target)
        core.bind(statement.target, _written(core, statement.value, value, key, scope), scope)
    return GOES_ON


def _augmented(core: Core, statement: ast.AugAssign, scope: Scope) -> Flow:
    reading = ast.copy_location(
        ast.BinOp(_loaded(statement.target), statement.op, statement.value), statement
    )
    _count(core, statement.target, core.value(reading, scope), scope)
    return GOES_ON


def _count(core: Core, target: ast.expr, value: Thing, scope: Scope) -> None:
    """Assign what a target is worked out from itself; in a loop it has another value each turn."""
    journal = core.state.journal
    mark = journal.mark()
    core.bind(target, value, scope)
    change = journal.last(mark)
    if change is None or not core.state.loops:
        return
    holder, key, before = change
    if isinstance(before, TERMS) and isinstance(value, TERMS) and before.value != value.value:
        core.state.counted.append((holder, key))


def _loaded(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    if isinstance(target, ast.Attribute):
        return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    if isinstance(target, ast.Subscript):
        return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    return target


def bind(core: Core, target: ast.expr, value: Thing, scope: Scope) -> None:
    """Assign ``value`` to ``target``."""
    write = core.state.journal.write
    if isinstance(target, ast.Name):
        holder: Scope | None = scope
        if target.id in scope.declared:
            holder = scope.around.holder(target.id) if scope.around else None
            holder = holder or scope.outermost
        write((holder or scope).names, target.id, value)
    elif isinstance(target, ast.Starred):
        bind(core, target.value, NotKnown("some of several values"), scope)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(core, target.elts, value, scope)
    elif isinstance(target, ast.Attribute):
        owner = unwrapped(core.value(target.value, scope))
        if target.attr == "require_backward_grad_sync":
            core.state.happen("sync", scope.source.place(target), owner)
        if isinstance(owner, Instance):
            write(owner.fields, target.attr, filled(core, owner, target.attr, value))
        elif isinstance(owner, Class):
            write(owner.names, target.attr, value)
    elif isinstance(target, ast.Subscript):
        owner, index = core.value(target.value, scope), core.value(target.slice, scope)
        if isinstance(owner, Table):
            is_known = isinstance(index, TERMS)
            if not is_known and owner.entries is scope.outermost.names:
                why = core.unknown(ANY_NAME, scope.source.at(target))
                forget(core, owner.entries, why, beginning(target.slice))
            else:
                write(owner.entries, scalar(index) if is_known else REST, value)
        elif isinstance(owner, Row):
            write(owner.slot, ITEMS, _replaced(owner, scalar(index), value))


def _replaced(owner: Row, index: object, value: Thing) -> tuple[Thing, ...]:
    """The items of a list once one is another; none is known where nobody can tell which."""
    items = list(owner.items)
    if owner.count is not None or type(index) is not int or not -len(items) <= index < len(items):
        return tuple(NotKnown("an item of a list that is changed") for _ in items)
    items[index] = value
    return tuple(items)


def _as_many(items: Sequence[Thing], targets: list[ast.expr]) -> Sequence[Thing]:
    """An item for each target, where they can be told: ``first, *others = items``."""
    star = next((at for at, each in enumerate(targets) if isinstance(each, ast.Starred)), None)
    if star is None or len(items) < len(targets) - 1:
        return items if len(items) == len(targets) else ()
    behind = len(items) - (len(targets) - star - 1)
    return [*items[:star], NotKnown("some of several values"), *items[behind:]]


def _unpack(core: Core, targets: list[ast.expr], value: Thing, scope: Scope) -> None:
    items: Sequence[Thing] = ()
    if isinstance(value, Row) and value.count is None:
        items = _as_many(value.items, targets)
    elif isinstance(value, Tensor):
        items = [value] * len(targets)
    elif isinstance(value, Repeated):
        items = [value.item] * len(targets)
    for index, target in enumerate(targets):
        unknown = (
            value
            if isinstance(value, NotKnown)
            else NotKnown("one of several values at run time", scope.source.path, target.lineno)
        )
        bind(core, target, items[index] if items else unknown, scope)


def _delete(core: Core, statement: ast.Delete, scope: Scope) -> Flow:
    for target in statement.targets:
        if isinstance(target, ast.Name):
            core.state.journal.delete(scope.names, target.id)
    return GOES_ON


HANDLERS: dict[type[ast.stmt], Callable[..., Flow]] = {
    ast.AnnAssign: _annotated,
    ast.Assign: _assign,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
}
