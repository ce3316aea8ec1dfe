"""What an expression of a script stands for. Nothing is ever run."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any

from nanolint.run.equation import NotKnown, Turn
from nanolint.run.terms import Given, Number, Surface
from nanolint.source.from_ast import OPERATORS
from nanolint.trainers.script.core import literal
from nanolint.trainers.script.modules import is_literal
from nanolint.trainers.script.tensors import length, sliced
from nanolint.trainers.script.things import (
    CALLABLE,
    ITEMS,
    REST,
    TERMS,
    Class,
    External,
    Function,
    Instance,
    Repeated,
    Row,
    Scope,
    Super,
    Table,
    Tensor,
    Thing,
    made,
    merged,
    repeated,
    row,
    scalar,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.trainers.script.core import Core

_UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Not: "not", ast.Invert: "inv"}
_COMPARISONS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "==",
    ast.IsNot: "!=",
}
_OF_SCOPE = ("globals", "locals", "vars", "super")
_ENVIRONMENT = ("os.environ.get", "os.getenv")
MOST_ITEMS = 2000  # of a list that are followed one by one
MOST_LAYERS = 64  # of a model that are followed one by one


def evaluate(core: Core, node: ast.expr, scope: Scope) -> Thing:
    """What ``node`` stands for."""
    core.state.spend()
    handler = _HANDLERS.get(type(node))
    if handler is None:
        return _unknown("an expression at run time", node, scope)
    return handler(core, node, scope)


def given_literal(
    core: Core, node: ast.expr, value: Thing, key: str, surface: Surface, scope: Scope
) -> Thing:
    """``value`` as something given under the name ``key``, where ``node`` writes it down."""
    if not isinstance(value, Number) or value.value is None or not is_literal(node):
        return value
    place = scope.source.place(node)
    change = core.state.around.change(key)
    if change is None:
        found = Given(key, value.value, surface, place)
    elif isinstance(change.value, NotKnown):
        return change.value
    else:
        found = Given(key, literal(change.value), Surface.FLAG, core.state.around.launched, place)
    core.state.given[found] = None
    return found


def turn(core: Core, condition: Thing, taken: bool, node: ast.expr, scope: Scope) -> None:
    """Note a condition that decided which way the script went."""
    if isinstance(condition, TERMS) and not isinstance(condition, Number):
        core.state.turns.append(Turn(condition, taken, scope.source.at(node)))


def _unknown(reason: str, node: ast.expr, scope: Scope) -> NotKnown:
    return NotKnown(reason, scope.source.path, node.lineno)


def _constant(_core: Core, node: ast.Constant, scope: Scope) -> Thing:
    if isinstance(node.value, (int, float, str)) or node.value is None:
        return Number(node.value)
    return _unknown("a constant that no setting has", node, scope)


def _name(_core: Core, node: ast.Name, scope: Scope) -> Thing:
    holder = scope.holder(node.id)
    if holder is not None:
        return holder.names[node.id]
    if hasattr(builtins, node.id):
        return External(node.id)
    return _unknown(f"{node.id} is set nowhere above", node, scope)


def _attribute(core: Core, node: ast.Attribute, scope: Scope) -> Thing:
    owner = core.value(node.value, scope)
    return core.attribute(owner, node.attr, scope.source.at(node))


def _subscript(core: Core, node: ast.Subscript, scope: Scope) -> Thing:
    owner = repeated(core.value(node.value, scope))
    if isinstance(owner, Repeated) and isinstance(node.slice, ast.Slice):
        return Repeated(owner.item, length(core, node.slice, owner.count, scope))
    if isinstance(owner, Tensor) or _is_sliced_array(owner, node.slice):
        return sliced(core, owner, node.slice, scope)
    if isinstance(owner, Row) and isinstance(node.slice, ast.Slice):
        return _sliced_row(core, owner, node.slice, scope)
    if isinstance(owner, NotKnown):
        return owner
    index = core.value(node.slice, scope)
    if isinstance(owner, External) and owner.name == "os.environ":
        return core.call(External("os.environ"), [index], {}, scope.source.at(node))
    if isinstance(index, NotKnown):
        return index
    at = scalar(index)
    if isinstance(owner, Table):
        found = owner.entries.get(at, owner.entries.get(REST))
        return found or _unknown(f"an entry {at!r} that is nowhere set", node, scope)
    if isinstance(owner, Repeated):
        return owner.item
    if isinstance(owner, Row):
        if isinstance(at, int) and -len(owner.items) <= at < len(owner.items):
            turn(core, made("==", (index, Number(at)), None, 0), True, node.slice, scope)
            return owner.items[at]
        return _unknown("an item that is not there", node, scope)
    if isinstance(scalar(owner), str) and isinstance(at, int):
        text = str(scalar(owner))
        if -len(text) <= at < len(text):
            return Number(text[at])
    if isinstance(owner, Instance):
        method = core.attribute(owner, "__getitem__", scope.source.at(node))
        if isinstance(method, Function):
            return core.call(method, [index], {}, scope.source.at(node))
    return _unknown("an item that only the run knows", node, scope)


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
        return left if isinstance(left, Tensor) else right
    if isinstance(left, Row) and isinstance(right, Row) and isinstance(node.op, ast.Add):
        return row([*left.items, *right.items])
    symbol = OPERATORS.get(type(node.op), "@")
    return made(symbol, (left, right), scope.source.path, node.lineno)


def _unary(core: Core, node: ast.UnaryOp, scope: Scope) -> Thing:
    operand = core.value(node.operand, scope)
    if isinstance(node.op, ast.Not) and not isinstance(operand, (NotKnown, *TERMS)):
        known = truth(operand)
        return _unknown("a condition", node, scope) if known is None else Number(not known)
    return made(_UNARY[type(node.op)], (operand,), scope.source.path, node.lineno)


def truth(thing: Thing) -> bool | None:
    """Whether Python takes a thing for true, None where only a run tells."""
    if isinstance(thing, TERMS):
        return bool(thing.value)
    if isinstance(thing, Row):
        return bool(thing.items) if thing.count is None else None
    if isinstance(thing, Table):
        return True if thing.entries.keys() - {REST} else None if REST in thing.entries else False
    if isinstance(thing, (NotKnown, Tensor, Repeated)):
        return None
    if isinstance(thing, Instance) and isinstance(thing.of, External):
        return True if thing.of.last[:1].isupper() else None
    return True


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
    return unknown if isinstance(unknown, NotKnown) else _unknown("a test", node, scope)


def _comparison(core: Core, node: ast.Compare, scope: Scope) -> Thing:
    result: Thing = Number(value=True)
    left = first = core.value(node.left, scope)
    for operator, comparator in zip(node.ops, node.comparators, strict=True):
        right = core.value(comparator, scope)
        found = _compared(core, operator, left, right, node, scope)
        if isinstance(found, NotKnown) or not scalar(found):
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
        if found is None:
            return _unknown("a condition at run time", node, scope)
        return Number(found is isinstance(operator, ast.In))
    for one, other in ((left, right), (right, left)):
        nothing = isinstance(other, Number) and other.value is None
        if nothing and not isinstance(one, (NotKnown, *TERMS)):
            return Number(isinstance(operator, (ast.IsNot, ast.NotEq)))
    if isinstance(left, Row) and isinstance(right, Row):
        pairs = [[scalar(each) for each in side.items] for side in (left, right)]
        if all(isinstance(each, TERMS) for side in (left, right) for each in side.items):
            symbol = _COMPARISONS[type(operator)]
            return Number(_ORDERS[symbol](pairs[0], pairs[1]))
    if isinstance(left, External) and isinstance(right, External):
        same = left.name == right.name
        return Number(same is isinstance(operator, (ast.Eq, ast.Is)))
    return made(_COMPARISONS[type(operator)], (left, right), scope.source.path, node.lineno)


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
}


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
    why = test if isinstance(test, NotKnown) else _unknown("a condition", node, scope)
    return merged(body, orelse, why) or why


def _row(core: Core, node: ast.Tuple | ast.List | ast.Set, scope: Scope) -> Thing:
    items: list[Thing] = []
    for each in node.elts:
        if isinstance(each, ast.Starred):
            found = core.value(each.value, scope)
            if not isinstance(found, Row):
                return _unknown("a list that is filled at run time", node, scope)
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
            table.entries[REST] = _unknown("a dictionary filled at run time", node, scope)
    return table


def _text(core: Core, node: ast.JoinedStr, scope: Scope) -> Thing:
    parts = []
    for part in node.values:
        inner = part.value if isinstance(part, ast.FormattedValue) else part
        found = core.value(inner, scope)
        plain = not isinstance(part, ast.FormattedValue) or part.format_spec is None
        if not isinstance(found, TERMS) or not plain:
            return found if isinstance(found, NotKnown) else _unknown("a text", node, scope)
        parts.append(str(found.value))
    return Number("".join(parts))


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
    if not isinstance(before, Row) or not before.items:
        core.state.journal.write(function.names, "yield", row([value]))
    return _unknown("what is sent to a generator", node, scope)


def _comprehension(
    core: Core, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: Scope
) -> Thing:
    if len(node.generators) != 1:
        return _unknown("a comprehension over several lists", node, scope)
    generator = node.generators[0]
    over = repeated(core.value(generator.iter, scope))
    inner = Scope(scope.source, {}, scope)
    items_of = turns(core, over, generator.iter, scope)
    if items_of is not None:
        items = []
        leave = repeating(core, over)
        for item in items_of:
            core.bind(generator.target, item, inner)
            tests = [truth(core.value(test, inner)) for test in generator.ifs]
            if None in tests:
                leave()
                return _unknown("a comprehension with a condition", node, scope)
            if all(tests):
                items.append(core.value(node.elt, inner))
        leave()
        return row(items)
    count = over.count if isinstance(over, Repeated) else _unknown("a length", node, scope)
    if isinstance(over, Tensor) and over.shape:
        count = over.shape[0]
    core.bind(generator.target, core.next_of(over, scope.source.at(node)), inner)
    item = core.value(node.elt, inner)
    if generator.ifs:
        count = _unknown("a comprehension with a condition", node, scope)
    return Repeated(item, count)


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
    why = _unknown("a dictionary filled at run time", node, scope)
    generator = node.generators[0]
    over = core.value(generator.iter, scope)
    items = turns(core, over, generator.iter, scope)
    if len(node.generators) != 1 or items is None:
        return Table({REST: why})
    table, inner = Table(), Scope(scope.source, {}, scope)
    leave = repeating(core, over)
    for item in items:
        core.bind(generator.target, item, inner)
        if all(truth(core.value(test, inner)) for test in generator.ifs):
            key = core.value(node.key, inner)
            value = core.value(node.value, inner)
            table.entries[scalar(key) if isinstance(key, TERMS) else REST] = value
    leave()
    return table


def _call(core: Core, node: ast.Call, scope: Scope) -> Thing:
    place = scope.source.at(node)
    owner: Thing | None = None
    name = ""
    if isinstance(node.func, ast.Attribute):
        owner, name = core.value(node.func.value, scope), node.func.attr
        function = core.attribute(owner, name, place)
    else:
        function = core.value(node.func, scope)
    if isinstance(function, External) and function.name in _OF_SCOPE and not node.args:
        return _of_scope(function.name, node, scope)
    arguments = _positional(core, node, function, scope)
    named = _named(core, node, function, scope)
    if owner is not None and not isinstance(function, CALLABLE):
        return core.method(owner, name, arguments, named, place)
    return core.call(function, arguments, named, place)


def _of_scope(name: str, node: ast.Call, scope: Scope) -> Thing:
    if name != "super":
        return Table(scope.outermost.names if name == "globals" else scope.names)
    instance, owner = scope.names.get("self"), scope.names.get("__class__")
    if instance is None or not isinstance(owner, Class):
        return _unknown("calls super() at run time", node, scope)
    return Super(instance, owner)


def _positional(core: Core, node: ast.Call, function: Thing, scope: Scope) -> list[Thing]:
    arguments: list[Thing] = []
    for each in node.args:
        found = core.value(each.value if isinstance(each, ast.Starred) else each, scope)
        if isinstance(each, ast.Starred):
            arguments += found.items if isinstance(found, Row) else []
        else:
            arguments.append(_argument(core, each, found, function, len(arguments), scope))
    return arguments


def _named(core: Core, node: ast.Call, function: Thing, scope: Scope) -> dict[str, Thing]:
    named: dict[str, Thing] = {}
    for keyword in node.keywords:
        found = core.value(keyword.value, scope)
        if keyword.arg is not None:
            if not isinstance(function, External) or function.name == "dict":
                surface = Surface.ENTRY if isinstance(function, External) else Surface.CONSTANT
                found = given_literal(core, keyword.value, found, keyword.arg, surface, scope)
            named[keyword.arg] = found
        elif isinstance(found, Table):
            named |= {str(key): value for key, value in found.entries.items()}
        else:
            named[REST] = _unknown("arguments at run time", node, scope)
    return named


def _argument(
    core: Core, node: ast.expr, value: Thing, function: Thing, position: int, scope: Scope
) -> Thing:
    """A literal that is passed to a function of the project goes by the parameter's name."""
    if isinstance(function, External) and position == 1 and function.name in _ENVIRONMENT:
        return given_literal(core, node, value, "default", Surface.ENVIRONMENT, scope)
    if isinstance(function, Function) and is_literal(node):
        parameters = [*function.node.args.posonlyargs, *function.node.args.args]
        position += function.bound is not None
        if position < len(parameters):
            key = parameters[position].arg
            return given_literal(core, node, value, key, Surface.CONSTANT, scope)
    return value


_HANDLERS: dict[type[ast.expr], Callable[..., Thing]] = {
    ast.Attribute: _attribute,
    ast.Await: _awaited,
    ast.BinOp: _binary,
    ast.BoolOp: _boolean,
    ast.Call: _call,
    ast.Compare: _comparison,
    ast.Constant: _constant,
    ast.Dict: _dict,
    ast.DictComp: _dict_comprehension,
    ast.GeneratorExp: _comprehension,
    ast.IfExp: _choice,
    ast.JoinedStr: _text,
    ast.Lambda: _lambda,
    ast.List: _row,
    ast.ListComp: _comprehension,
    ast.Name: _name,
    ast.NamedExpr: _walrus,
    ast.Set: _row,
    ast.SetComp: _comprehension,
    ast.Starred: _awaited,
    ast.Subscript: _subscript,
    ast.Tuple: _row,
    ast.UnaryOp: _unary,
    ast.Yield: _yielded,
    ast.YieldFrom: _yielded,
}
