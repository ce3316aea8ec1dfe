"""The statements of a script, followed in the order in which they would run, but not run."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanolint.files.door import exists
from nanolint.run.equation import Check, NotKnown
from nanolint.run.terms import Number, Place
from nanolint.trainers.script import assignments, definitions, loops, unknown_reasons
from nanolint.trainers.script.conditions import period_of, truth, turn
from nanolint.trainers.script.core import GOES_ON, Flow
from nanolint.trainers.script.modules import calls, find_module
from nanolint.trainers.script.operations import made, merged, scalar
from nanolint.trainers.script.settings_files import is_of_file
from nanolint.trainers.script.things import COUNT, TERMS, External, Imported, Row, Scope, Thing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from nanolint.trainers.script.core import Core


def _import(core: Core, statement: ast.Import, scope: Scope) -> Flow:
    for alias in statement.names:
        first = alias.name.partition(".")[0]
        name = alias.name if alias.asname else first
        found = _imported(core, name, scope) or External(name)
        core.state.journal.write(scope.names, alias.asname or first, found)
    return GOES_ON


def _imported(core: Core, name: str, scope: Scope) -> Imported | None:
    path = find_module(name, core.state.roots, scope.source.path)
    if path is not None and not name.startswith(".") and _is_library(path, name):
        return None
    inner = core.module(path, name) if path is not None else None
    return Imported(inner) if inner is not None else None


# What the libraries have that are known by name: in their own repositories they are no project.
_PARTS = {
    "accelerate": "accelerator.py",
    "deepspeed": "runtime/engine.py",
    "lightning": "pytorch/trainer/trainer.py",
    "transformers": "training_args.py",
    "trl": "trainer/sft_trainer.py",
}


def _is_library(path: Path, name: str) -> bool:
    first = name.partition(".")[0]
    above = next((each for each in path.parents if each.name == first), None)
    return above is not None and first in _PARTS and exists(above / _PARTS[first])


def _import_from(core: Core, statement: ast.ImportFrom, scope: Scope) -> Flow:
    module = "." * statement.level + (statement.module or "")
    owner = _imported(core, module, scope)
    place = Place(scope.source.path, statement.lineno)
    for alias in statement.names:
        if alias.name == "*":
            for key, value in _exported(core, owner, place) if owner else ():
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


def _exported(core: Core, owner: Imported, place: Place) -> list[tuple[object, Thing]]:
    """What ``import *`` binds: the names that the module lists, else those without underscore."""
    names = owner.scope.names
    listed = names.get("__all__")
    if isinstance(listed, Row) and listed.count is None:
        chosen = [scalar(each) for each in listed.items]
        return [(key, core.attribute(owner, key, place)) for key in chosen if isinstance(key, str)]
    return [(key, value) for key, value in names.items() if not str(key).startswith("_")]


# What prints: print0, log0, logger.info, warnings.warn.
_TELLS = re.compile(r"print\w*|log0?|log_\w+|(logger|logging)\.\w+|warnings\.warn|warn")
_EXITS = frozenset({"exit", "quit", "sys.exit", "os._exit"})


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
    if rest.how == "end":
        return Flow("perhaps", one.value)
    if rest.how not in ("return", "perhaps"):
        return Flow("return", one.value) if rest.how == "stop" else rest
    why = NotKnown("one of two values, by a condition", scope.source.path, statement.lineno)
    value = merged(one.value, rest.value or Number(None), why)
    return Flow(rest.how, value)


# Conditions


def _if(core: Core, statement: ast.If, scope: Scope) -> Flow:
    test = core.value(statement.test, scope)
    known = truth(test)
    body, orelse = statement.body, statement.orelse
    if known is None:
        why = (
            test
            if isinstance(test, NotKnown)
            else core.unknown(unknown_reasons.CONDITION, scope.source.at(statement))
        )
        period = period_of(core, statement.test, scope) or _remembered(test, scope, statement)
        tests = core.state.tests
        tests.append((statement.test, period))
        ways: list[int] = []  # how many events there were before each

        def taken() -> Flow:
            ways.append(len(core.state.events))
            _learn(core, statement.test, scope)
            return core.run(body, scope)

        def otherwise() -> Flow:
            ways.append(len(core.state.events))
            return core.run(orelse, scope)

        found = core.either(taken, otherwise, why)
        core.state.step_either_way(ways, tests.pop())
        return found
    if _ends(body) and isinstance(test, TERMS) and not _is_entry(statement.test):
        _require(core, made("not", (test,), None, 0), statement, body, scope)
        return core.run(orelse, scope)
    if _ends(orelse) and isinstance(test, TERMS):
        _require(core, test, statement, orelse, scope)
        return core.run(body, scope)
    if not all(map(_only_tells, (*body, *orelse))):
        turn(core, test, known, statement.test, scope)
    return core.run(body if known else orelse, scope)


def _only_tells(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but print: reached or not, the run is the same."""
    called = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(called, ast.Call) and bool(_TELLS.fullmatch(ast.unparse(called.func)))


def _is_entry(test: ast.expr) -> bool:
    """``if __name__ == "__main__": sys.exit(main())`` refuses nothing."""
    return any(isinstance(each, ast.Name) and each.id == "__name__" for each in ast.walk(test))


def _learn(core: Core, test: ast.expr, scope: Scope) -> None:
    """What is known where a condition is met: behind ``len(rows) == B`` a list has B items."""
    if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq)):
        return
    for one, other in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
        if isinstance(one, ast.Call) and ast.unparse(one.func) == "len" and len(one.args) == 1:
            counted, count = core.value(one.args[0], scope), core.value(other, scope)
            if isinstance(counted, Row) and isinstance(count, TERMS) and counted.items:
                core.state.journal.write(counted.slot, COUNT, count)


def _remembered(test: Thing, scope: Scope, statement: ast.If) -> Thing:
    """N where the test was made before: ``is_update = (step + 1) % N == 0``."""
    period = test.period if isinstance(test, NotKnown) else None
    path, line = scope.source.path, statement.test.lineno
    return period or NotKnown(unknown_reasons.CONDITION, path, line)


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
    if calls(statement, "backward") or not handled or _only_compiles(tried):
        flow = core.run(tried, scope)
    else:
        flow = _either_of(core, tried, handled, doubt, scope)
    final = core.run(statement.finalbody, scope)
    return flow if final.how == "end" else final


def _only_compiles(tried: Sequence[ast.stmt]) -> bool:
    """``try: model = torch.compile(model)``, which fails later if at all: where a graph is made."""
    compiles = False
    for each in tried:
        value = each.value if isinstance(each, (ast.Assign, ast.Expr)) else None
        if not isinstance(value, ast.Call):
            return False
        name = ast.unparse(value.func)
        compiles = compiles or name == "torch.compile" or name.endswith(".compile")
        if name != "torch.compile" and not isinstance(each, ast.Expr):
            return False
    return compiles


def _either_of(
    core: Core,
    tried: Sequence[ast.stmt],
    handled: Sequence[ast.stmt],
    doubt: NotKnown,
    scope: Scope,
) -> Flow:
    """What is tried, or what is done where that fails. Settings that were found are given back."""
    found: list[Flow] = []

    def attempt() -> Flow:
        found.append(core.run(tried, scope))
        return found[0]

    def otherwise() -> Flow:
        is_read = found[0].how == "return" and is_of_file(found[0].value)
        return found[0] if is_read else core.run(handled, scope)

    return core.either(attempt, otherwise, doubt)


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


def _declared(_core: Core, statement: ast.Global | ast.Nonlocal, scope: Scope) -> Flow:
    scope.declared.update(statement.names)
    return GOES_ON


def _left(how: str) -> Callable[[Core, ast.stmt, Scope], Flow]:
    return lambda _core, _statement, _scope: Flow(how)


_HANDLERS: dict[type[ast.stmt], Callable[..., Flow]] = {
    **assignments.HANDLERS,
    **definitions.HANDLERS,
    **loops.HANDLERS,
    ast.Assert: _assert,
    ast.AsyncWith: _with,
    ast.Break: _left("break"),
    ast.Continue: _left("continue"),
    ast.Expr: _expression,
    ast.Global: _declared,
    ast.If: _if,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Match: _match,
    ast.Nonlocal: _declared,
    ast.Raise: _raise,
    ast.Return: _return,
    ast.Try: _try,
    ast.With: _with,
}
