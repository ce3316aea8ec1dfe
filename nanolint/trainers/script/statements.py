"""The statements of a script, followed in the order in which they would run, but not run."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.run.equation import Check, NotKnown
from nanolint.run.terms import Given, Number, Place, Surface, World
from nanolint.trainers.script.comprehensions import repeating, turns
from nanolint.trainers.script.conditions import truth, turn
from nanolint.trainers.script.core import GOES_ON, Flow, Loop
from nanolint.trainers.script.literals import given_literal
from nanolint.trainers.script.modules import calls, changed_in, find_module
from nanolint.trainers.script.things import (
    REST,
    TERMS,
    Class,
    External,
    Function,
    Imported,
    Instance,
    Repeated,
    Row,
    Scope,
    Table,
    Tensor,
    Thing,
    made,
    merged,
    repeated,
    row,
    scalar,
    unwrapped,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.trainers.script.core import Core

_EXITS = frozenset({"exit", "quit", "sys.exit", "os._exit"})
MOST_TURNS = 16  # of a loop that is followed turn by turn


def run(core: Core, body: Sequence[ast.stmt], scope: Scope) -> Flow:
    """Follow ``body``."""
    for index, statement in enumerate(body):
        core.state.spend()
        handler = _HANDLERS.get(type(statement))
        flow = handler(core, statement, scope) if handler else GOES_ON
        if flow.how == "perhaps":  # one of two branches returned
            rest = run(core, body[index + 1 :], scope)
            return _either_value(flow, rest, scope, statement)
        if flow.how != "end":
            return flow
    return GOES_ON


def _either_value(one: Flow, rest: Flow, scope: Scope, statement: ast.stmt) -> Flow:
    if rest.how in ("end", "perhaps"):
        return Flow("perhaps", one.value)
    if rest.how != "return":
        return Flow("return", one.value) if rest.how == "stop" else rest
    why = NotKnown("one of two values, by a condition", scope.source.path, statement.lineno)
    value = merged(one.value, rest.value or Number(None), why)
    return Flow("return", value)


# Assignments


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
        core.bind(target, found, scope)
    return GOES_ON


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
    core.bind(statement.target, core.value(reading, scope), scope)
    return GOES_ON


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
            write(owner.fields, target.attr, value)
        elif isinstance(owner, Class):
            write(owner.names, target.attr, value)
    elif isinstance(target, ast.Subscript):
        owner, index = core.value(target.value, scope), core.value(target.slice, scope)
        if isinstance(owner, Table):
            write(owner.entries, scalar(index) if isinstance(index, TERMS) else REST, value)


def _unpack(core: Core, targets: list[ast.expr], value: Thing, scope: Scope) -> None:
    items: Sequence[Thing] = ()
    if isinstance(value, Row) and value.count is None and len(value.items) == len(targets):
        items = value.items
    elif isinstance(value, Tensor):
        items = [value] * len(targets)
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


# Conditions


def _if(core: Core, statement: ast.If, scope: Scope) -> Flow:
    test = core.value(statement.test, scope)
    known = truth(test)
    body, orelse = statement.body, statement.orelse
    if known is None:
        why = (
            test
            if isinstance(test, NotKnown)
            else core.unknown("a condition at run time", scope.source.at(statement))
        )
        period = _period(core, statement.test, scope)
        tests = core.state.tests
        tests.append((statement.test, period))
        found = core.either(lambda: core.run(body, scope), lambda: core.run(orelse, scope), why)
        tests.pop()
        return found
    if _ends(body) and isinstance(test, TERMS):
        _require(core, made("not", (test,), None, 0), statement, body, scope)
        return core.run(orelse, scope)
    if _ends(orelse) and isinstance(test, TERMS):
        _require(core, test, statement, orelse, scope)
        return core.run(body, scope)
    turn(core, test, known, statement.test, scope)
    return core.run(body if known else orelse, scope)


def _period(core: Core, test: ast.expr, scope: Scope) -> Thing:
    """N of a condition that is met every N-th time: ``(step + 1) % N == 0``."""
    for node in ast.walk(test):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            return core.value(node.right, scope)
    return NotKnown("a condition at run time", scope.source.path, test.lineno)


def _ends(body: Sequence[ast.stmt]) -> bool:
    """Whether a block ends the script, as one does that refuses what it was given."""
    last = body[-1] if body else None
    if isinstance(last, ast.Raise):
        return True
    is_call = isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)
    return is_call and ast.unparse(last.value.func) in _EXITS  # type: ignore[union-attr]


def _require(
    core: Core, condition: Thing, statement: ast.stmt, body: Sequence[ast.stmt], scope: Scope
) -> None:
    if isinstance(condition, TERMS) and not isinstance(condition, Number):
        text = ast.unparse(body[-1]) if body else ""
        core.state.checks.append(Check(condition, text, scope.source.place(statement)))


def _assert(core: Core, statement: ast.Assert, scope: Scope) -> Flow:
    """What is asserted is taken to be so: whether it is, is for the checks to say."""
    condition = core.value(statement.test, scope)
    if isinstance(condition, TERMS) and not isinstance(condition, Number):
        text = ast.unparse(statement.test)
        core.state.checks.append(Check(condition, text, scope.source.place(statement)))
    return GOES_ON


def _match(_core: Core, _statement: ast.Match, _scope: Scope) -> Flow:
    return GOES_ON


# Loops


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
            item = NotKnown("changes with each turn of a loop", place.path, place.line)
        core.bind(statement.target, item, scope)
        counted = isinstance(statement.iter, ast.Call)
        flow = _turn(core, statement, count if counted else None, scope)
    leave()
    return flow


def _turns(core: Core, over: Thing, statement: ast.For, scope: Scope) -> Sequence[Thing] | None:
    """What a loop that trains nothing is followed with, turn by turn, where it has few.

    Within such a loop no other is: loops in loops are about data, not about settings.
    """
    if core.state.unrolled and not core.state.building:
        return None
    if core.state.building or isinstance(over, Row):
        items = turns(core, over, statement.iter, scope)
        return items if items is None or core.state.building else items[:MOST_TURNS]
    count = scalar(over.count) if isinstance(over, Repeated) else None
    if not isinstance(count, int) or isinstance(count, bool) or not 0 < count <= MOST_TURNS:
        return None
    if not _only_counts(statement):
        return None
    return [Number(each) for each in range(count)]


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
    return _turn(core, statement, None, scope)


def _only_counts(statement: ast.For | ast.While) -> bool:
    """Whether a loop does nothing but set names, until one of them is right."""
    return all(isinstance(each, (ast.Assign, ast.AugAssign)) for each in statement.body)


def _turn(core: Core, statement: ast.For | ast.While, count: Thing | None, scope: Scope) -> Flow:
    """One turn that stands for all."""
    changed = NotKnown("changes with each turn of a loop", scope.source.path, statement.lineno)
    for name in changed_in(statement):
        if name in scope.names and isinstance(scope.names[name], TERMS):
            core.state.journal.write(scope.names, name, changed)
    place = scope.source.at(statement)
    core.state.loops.append(Loop(statement, place, count, calls(statement, "backward")))
    try:
        flow = core.run(statement.body, scope)
    finally:
        core.state.loops.pop()
    return flow if flow.how in ("return", "stop") else GOES_ON


# Blocks


def _with(core: Core, statement: ast.With | ast.AsyncWith, scope: Scope) -> Flow:
    managers = core.state.managers
    before = len(managers)
    for item in statement.items:
        value = core.value(item.context_expr, scope)
        managers.append(value)
        if item.optional_vars is not None:
            core.bind(item.optional_vars, value, scope)
    try:
        return core.run(statement.body, scope)
    finally:
        del managers[before:]


def _try(core: Core, statement: ast.Try, scope: Scope) -> Flow:
    doubt = NotKnown("set under `try`", scope.source.path, statement.lineno)
    handled = [entry for handler in statement.handlers[:1] for entry in handler.body]
    tried = [*statement.body, *statement.orelse]
    if calls(statement, "backward") or not handled:
        flow = core.run(tried, scope)
    else:
        flow = core.either(lambda: core.run(tried, scope), lambda: core.run(handled, scope), doubt)
    final = core.run(statement.finalbody, scope)
    return flow if final.how == "end" else final


def _expression(core: Core, statement: ast.Expr, scope: Scope) -> Flow:
    call = statement.value
    core.value(call, scope)
    if isinstance(call, ast.Call) and ast.unparse(call.func) in _EXITS:
        return Flow("stop")
    return GOES_ON


def _raise(core: Core, statement: ast.Raise, scope: Scope) -> Flow:
    """``raise SystemExit(main())`` runs ``main`` first."""
    if statement.exc is not None:
        core.value(statement.exc, scope)
    return Flow("stop")


def _return(core: Core, statement: ast.Return, scope: Scope) -> Flow:
    value = core.value(statement.value, scope) if statement.value is not None else Number(None)
    return Flow("return", value)


# Definitions and imports


def _function(core: Core, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> Flow:
    decorators = tuple(core.value(each, scope) for each in node.decorator_list)
    positional = [*node.args.posonlyargs, *node.args.args]
    pairs = [*zip(reversed(positional), reversed(node.args.defaults), strict=False)][::-1]
    pairs += [
        (parameter, each)
        for parameter, each in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if each is not None
    ]
    defaults = {
        parameter.arg: given_literal(
            core, each, core.value(each, scope), parameter.arg, Surface.CONSTANT, scope
        )
        for parameter, each in pairs
    }
    target = ast.copy_location(ast.Name(node.name, ast.Store()), node)
    core.bind(target, Function(node, scope, None, decorators, defaults), scope)
    return GOES_ON


def _class(core: Core, node: ast.ClassDef, scope: Scope) -> Flow:
    bases = tuple(core.value(each, scope) for each in node.bases)
    decorators = [core.value(each, scope) for each in node.decorator_list]
    names = [each.of if isinstance(each, Instance) else each for each in decorators]
    is_dataclass = any(isinstance(each, External) and each.last == "dataclass" for each in names)
    inner = Scope(scope.source, {}, scope, is_class=True)
    declared = tuple(
        each.target.id
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    )
    core.run(node.body, inner)
    for key, value in inner.names.items():
        if isinstance(value, Given) and value.surface is Surface.CONSTANT and isinstance(key, str):
            inner.names[key] = _as_field(core, value)
    made_class = Class(node, scope, bases, inner.names, declared, is_dataclass)
    for value in inner.names.values():
        if isinstance(value, Function):
            value.owner = made_class
    target = ast.copy_location(ast.Name(node.name, ast.Store()), node)
    core.bind(target, made_class, scope)
    return GOES_ON


def _as_field(core: Core, value: Given) -> Given:
    found = Given(value.key, value.value, Surface.FIELD, value.place)
    core.state.given.pop(value, None)
    core.state.given[found] = None
    return found


def _import(core: Core, statement: ast.Import, scope: Scope) -> Flow:
    for alias in statement.names:
        first = alias.name.partition(".")[0]
        name = alias.name if alias.asname else first
        found = _imported(core, name, scope) or External(name)
        core.state.journal.write(scope.names, alias.asname or first, found)
    return GOES_ON


def _imported(core: Core, name: str, scope: Scope) -> Imported | None:
    path = find_module(name, core.state.roots, scope.source.path)
    inner = core.module(path, name) if path is not None else None
    return Imported(inner) if inner is not None else None


def _import_from(core: Core, statement: ast.ImportFrom, scope: Scope) -> Flow:
    module = "." * statement.level + (statement.module or "")
    owner = _imported(core, module, scope)
    place = Place(scope.source.path, statement.lineno)
    for alias in statement.names:
        if alias.name == "*":
            for key, value in (owner.scope.names if owner else {}).items():
                core.state.journal.write(scope.names, key, value)
            continue
        found: Thing = External(f"{module}.{alias.name}")
        if owner is not None:
            found = core.attribute(owner, alias.name, place)
        if owner is None or isinstance(found, NotKnown):
            separator = "" if module.endswith(".") else "."
            found = _imported(core, f"{module}{separator}{alias.name}", scope) or found
        core.state.journal.write(scope.names, alias.asname or alias.name, found)
    return GOES_ON


def _declared(_core: Core, statement: ast.Global | ast.Nonlocal, scope: Scope) -> Flow:
    scope.declared.update(statement.names)
    return GOES_ON


def _left(how: str) -> Callable[[Core, ast.stmt, Scope], Flow]:
    return lambda _core, _statement, _scope: Flow(how)


_HANDLERS: dict[type[ast.stmt], Callable[..., Flow]] = {
    ast.AnnAssign: _annotated,
    ast.Assert: _assert,
    ast.Assign: _assign,
    ast.AsyncFor: _for,
    ast.AsyncFunctionDef: _function,
    ast.AsyncWith: _with,
    ast.AugAssign: _augmented,
    ast.Break: _left("break"),
    ast.ClassDef: _class,
    ast.Continue: _left("continue"),
    ast.Delete: _delete,
    ast.Expr: _expression,
    ast.For: _for,
    ast.FunctionDef: _function,
    ast.Global: _declared,
    ast.If: _if,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Match: _match,
    ast.Nonlocal: _declared,
    ast.Raise: _raise,
    ast.Return: _return,
    ast.Try: _try,
    ast.While: _while,
    ast.With: _with,
}
