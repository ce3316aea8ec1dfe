"""What an expression of a script stands for. Nothing is ever run."""

from __future__ import annotations

import ast
import builtins
import re
from typing import TYPE_CHECKING, Any

from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number, Surface
from nanolint.source.from_ast import OPERATORS
from nanolint.trainers.script import (
    call_sites,
    comprehensions,
    conditions,
    settings_files,
    unknown_reasons,
)
from nanolint.trainers.script.arguments import TYPED
from nanolint.trainers.script.conditions import truth, turn
from nanolint.trainers.script.definitions import given_literal
from nanolint.trainers.script.operations import (
    filled_to,
    made,
    repeated,
    row,
    scalar,
    texts_joined,
    unknown_at,
)
from nanolint.trainers.script.tensors import broadcast, length, sliced
from nanolint.trainers.script.things import (
    ITEMS,
    REST,
    TERMS,
    External,
    Function,
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

    from nanolint.run.terms import Term
    from nanolint.trainers.script.core import Core

_UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Not: "not", ast.Invert: "inv"}


def evaluate(core: Core, node: ast.expr, scope: Scope) -> Thing:
    """What ``node`` stands for."""
    core.state.spend()
    handler = _HANDLERS.get(type(node))
    if handler is None:
        return unknown_at("an expression at run time", node, scope)
    return handler(core, node, scope)


def _constant(_core: Core, node: ast.Constant, scope: Scope) -> Thing:
    if isinstance(node.value, (int, float, str)) or node.value is None:
        return Number(node.value)
    return unknown_at("a constant that no setting has", node, scope)


def _name(_core: Core, node: ast.Name, scope: Scope) -> Thing:
    holder = scope.holder(node.id)
    if holder is not None:
        return holder.names[node.id]
    if hasattr(builtins, node.id):
        return External(node.id)
    return unknown_at(f"{node.id} is set nowhere above", node, scope)


def _attribute(core: Core, node: ast.Attribute, scope: Scope) -> Thing:
    owner = core.value(node.value, scope)
    return core.attribute(owner, node.attr, scope.source.at(node))


def _subscript(core: Core, node: ast.Subscript, scope: Scope) -> Thing:
    owner = repeated(core.value(node.value, scope))
    if isinstance(owner, Repeated) and isinstance(node.slice, ast.Slice):
        of = ast.unparse(node.value)
        return Repeated(owner.item, length(core, node.slice, owner.count, scope, of))
    if isinstance(owner, Tensor) and owner.perhaps_several and _is_plain(node.slice):
        return Tensor(owner.shape, owner.perhaps_more, not _is_text(node.slice))
    if isinstance(owner, Tensor) or _is_sliced_array(owner, node.slice):
        return sliced(core, owner, node.slice, scope)
    if isinstance(owner, Row) and isinstance(node.slice, ast.Slice):
        return _sliced_row(core, owner, node.slice, scope)
    if isinstance(owner, NotKnown):
        return owner
    if owner == TYPED and isinstance(node.slice, ast.Slice):
        return owner
    index = core.value(node.slice, scope)
    if isinstance(owner, External) and owner.name == "os.environ":
        return core.call(External("os.environ"), [index], {}, scope.source.at(node))
    if isinstance(index, NotKnown):
        return index
    at = scalar(index)
    if isinstance(owner, Table):
        found = owner.entries.get(at, owner.entries.get(REST))
        return found or unknown_at(f"an entry {at!r} that is nowhere set", node, scope)
    if isinstance(owner, Repeated):
        return owner.item
    if isinstance(owner, Row):
        if isinstance(at, int) and -len(owner.items) <= at < len(owner.items):
            turn(core, made("==", (index, Number(at)), None, 0), True, node.slice, scope)
            return owner.items[at]
        return unknown_at("an item that is not there", node, scope)
    if isinstance(scalar(owner), str) and isinstance(at, int):
        text = str(scalar(owner))
        if -len(text) <= at < len(text):
            return Number(text[at])
    if isinstance(owner, Instance):
        method = core.attribute(owner, "__getitem__", scope.source.at(node))
        if isinstance(method, Function):
            return core.call(method, [index], {}, scope.source.at(node))
        if owner.of == External("torch.load"):
            return unknown_at(unknown_reasons.CHECKPOINT, node, scope)
    return unknown_at("an item that only the run knows", node, scope)


def _is_plain(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and isinstance(index.value, (int, str))


def _is_text(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and isinstance(index.value, str)


def _is_sliced_array(owner: Thing, index: ast.expr) -> bool:
    """Whether something of a library is sliced, as an array is."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return isinstance(owner, (Instance, NotKnown)) and any(
        isinstance(each, ast.Slice) for each in parts
    )


def _sliced_row(core: Core, owner: Row, node: ast.Slice, scope: Scope) -> Thing:
    bounds: list[Any] = []
    for part in (node.lower, node.upper, node.step):
        found = scalar(core.value(part, scope)) if part is not None else None
        if part is not None and not isinstance(found, int):
            return NotKnown("a part of a list", scope.source.path, part.lineno)
        bounds.append(found)
    return row(owner.items[slice(*bounds)])


def _binary(core: Core, node: ast.BinOp, scope: Scope) -> Thing:
    left, right = core.value(node.left, scope), core.value(node.right, scope)
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        if isinstance(node.op, ast.MatMult):
            return Tensor(None)
        return broadcast(left, right, unknown_at(unknown_reasons.OF_ARRAY, node, scope))
    if isinstance(left, Row) and isinstance(right, Row) and isinstance(node.op, ast.Add):
        return row([*left.items, *right.items])
    size = filled_to(node)
    most = None if size is None or isinstance(left, Row) else core.value(size, scope)
    if isinstance(most, TERMS):
        return Repeated(Number(0), most)
    path = settings_files.joined(left, right) if isinstance(node.op, ast.Div) else None
    symbol = OPERATORS.get(type(node.op), "@")
    return path or made(symbol, (left, right), scope.source.path, node.lineno)


def _unary(core: Core, node: ast.UnaryOp, scope: Scope) -> Thing:
    operand = core.value(node.operand, scope)
    if isinstance(node.op, ast.Not) and not isinstance(operand, (NotKnown, *TERMS)):
        known = truth(operand)
        return unknown_at("a condition", node, scope) if known is None else Number(not known)
    return made(_UNARY[type(node.op)], (operand,), scope.source.path, node.lineno)


def _row(core: Core, node: ast.Tuple | ast.List | ast.Set, scope: Scope) -> Thing:
    items: list[Thing] = []
    for each in node.elts:
        if isinstance(each, ast.Starred):
            found = core.value(each.value, scope)
            if not isinstance(found, Row):
                return unknown_at(unknown_reasons.FILLED_AT_RUN, node, scope)
            items += found.items
        else:
            items.append(core.value(each, scope))
    return Row({ITEMS: tuple(items)}, len(core.state.loops), len(core.state.tests))


def _dict(core: Core, node: ast.Dict, scope: Scope) -> Thing:
    table = Table()
    for key, value in zip(node.keys, node.values, strict=True):
        found = core.value(value, scope)
        name = None if key is None else core.value(key, scope)
        if key is None and isinstance(found, Table):
            table.entries.update(found.entries)
        elif isinstance(name, TERMS):
            text = str(name.value)
            given = given_literal(core, value, found, text, Surface.ENTRY, scope)
            table.entries[name.value] = given
        elif isinstance(name, External):
            table.entries[name.name] = found
        else:
            table.entries[REST] = unknown_at("a dictionary filled at run time", node, scope)
    return table


def _text(core: Core, node: ast.JoinedStr, scope: Scope) -> Thing:
    parts: list[NotKnown | Term] = []
    for part in node.values:
        inner = part.value if isinstance(part, ast.FormattedValue) else part
        found: Thing | None = core.value(inner, scope)
        spec = part.format_spec if isinstance(part, ast.FormattedValue) else None
        if isinstance(found, TERMS) and spec is not None:
            found = _formatted(found, spec)
        if not isinstance(found, (NotKnown, *TERMS)):
            found = unknown_at("a text", node, scope)
        parts.append(found)
    return texts_joined(parts)


def _formatted(found: Term, spec: ast.expr | None) -> Term | None:
    """``{step:06d}``; None where that is not plain."""
    parts = spec.values if isinstance(spec, ast.JoinedStr) else []
    if not all(isinstance(each, ast.Constant) for each in parts) or found.value is None:
        return None
    text = "".join(str(each.value) for each in parts if isinstance(each, ast.Constant))
    if not re.fullmatch(r"[<>^]?[+ -]?0?\d{0,3},?(\.\d{1,2})?[dfegsx%]?", text):
        return None
    try:
        return Number(format(found.value, text))
    except (ValueError, OverflowError):
        return None


def _lambda(_core: Core, node: ast.Lambda, scope: Scope) -> Thing:
    return Function(node, scope)


def _walrus(core: Core, node: ast.NamedExpr, scope: Scope) -> Thing:
    value = core.value(node.value, scope)
    core.bind(node.target, value, scope)
    return value


def _awaited(core: Core, node: ast.Await | ast.Starred, scope: Scope) -> Thing:
    return core.value(node.value, scope)


def _yielded(core: Core, node: ast.Yield | ast.YieldFrom, scope: Scope) -> Thing:
    """What a generator gives first is what it is taken to give always."""
    value = core.value(node.value, scope) if node.value is not None else Number(None)
    if isinstance(node, ast.YieldFrom):
        value = core.next_of(value, scope.source.at(node))
    function = scope
    while function.around is not None and "yield" not in function.names:
        function = function.around
    before = function.names.get("yield")
    if not isinstance(before, Row):
        core.state.journal.write(function.names, "yield", row([value]))
    elif not before.items:
        # Of two ways of which one yields, the way on is not what is yielded.
        core.state.journal.write(before.slot, ITEMS, (value,))
    return unknown_at("the value sent to a generator", node, scope)


_HANDLERS: dict[type[ast.expr], Callable[..., Thing]] = {
    **call_sites.HANDLERS,
    **comprehensions.HANDLERS,
    **conditions.HANDLERS,
    ast.Attribute: _attribute,
    ast.Await: _awaited,
    ast.BinOp: _binary,
    ast.Constant: _constant,
    ast.Dict: _dict,
    ast.JoinedStr: _text,
    ast.Lambda: _lambda,
    ast.List: _row,
    ast.Name: _name,
    ast.NamedExpr: _walrus,
    ast.Set: _row,
    ast.Starred: _awaited,
    ast.Subscript: _subscript,
    ast.Tuple: _row,
    ast.UnaryOp: _unary,
    ast.Yield: _yielded,
    ast.YieldFrom: _yielded,
}
