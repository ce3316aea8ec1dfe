"""``match``: which case a value fits, and the names that it binds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.interpreter.exceptions import let_go
from nanolint.interpreter.values import Class, Instance, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value


def match(machine: Machine, node: ast.Match, frame: Frame) -> object:
    """Runs the first case that fits. Raises Unread if that is not known."""
    subject = machine.evaluate(node.subject, frame)
    if isinstance(subject, Unknown):
        raise subject.unread()
    for case in node.cases:
        if not _fits(machine, case.pattern, subject, frame):
            continue
        if case.guard is None or machine.truth(machine.evaluate(case.guard, frame)):
            del subject
            return machine.execute(case.body, frame)
    return None


def _fits(machine: Machine, pattern: ast.pattern, value: Value, frame: Frame) -> bool:
    return PATTERNS[type(pattern)](machine, pattern, value, frame)


def _value(machine: Machine, pattern: ast.MatchValue, value: Value, frame: Frame) -> bool:
    wanted = machine.evaluate(pattern.value, frame)
    return machine.truth(machine.compare(ast.Eq(), value, wanted))


def _singleton(_machine: Machine, pattern: ast.MatchSingleton, value: Value, _frame: Frame) -> bool:
    return value is pattern.value


def _as(machine: Machine, pattern: ast.MatchAs, value: Value, frame: Frame) -> bool:
    if pattern.pattern is not None and not _fits(machine, pattern.pattern, value, frame):
        return False
    _bind(machine, pattern.name, value, frame)
    return True


def _or(machine: Machine, pattern: ast.MatchOr, value: Value, frame: Frame) -> bool:
    return any(_fits(machine, each, value, frame) for each in pattern.patterns)


def _sequence(machine: Machine, pattern: ast.MatchSequence, value: Value, frame: Frame) -> bool:
    if not isinstance(value, (list, tuple)):
        return False
    parts = pattern.patterns
    starred = next((at for at, each in enumerate(parts) if isinstance(each, ast.MatchStar)), None)
    if starred is None:
        return len(parts) == len(value) and _all_fit(machine, parts, value, frame)
    after = len(parts) - starred - 1
    end = len(value) - after
    if end < starred:
        return False
    star = parts[starred]
    assert isinstance(star, ast.MatchStar)
    if not _all_fit(machine, parts[:starred], value[:starred], frame):
        return False
    _bind(machine, star.name, list(value[starred:end]), frame)
    return _all_fit(machine, parts[starred + 1 :], value[end:], frame)


def _mapping(machine: Machine, pattern: ast.MatchMapping, value: Value, frame: Frame) -> bool:
    if not isinstance(value, dict):
        return False
    keys = [machine.evaluate(each, frame) for each in pattern.keys]
    if any(each not in value for each in keys):
        return False
    _bind(machine, pattern.rest, {k: v for k, v in value.items() if k not in keys}, frame)
    return _all_fit(machine, pattern.patterns, [value[each] for each in keys], frame)


def _class(machine: Machine, pattern: ast.MatchClass, value: Value, frame: Frame) -> bool:
    kind = machine.evaluate(pattern.cls, frame)
    found = machine.instance_of(value, kind)
    if not machine.truth(found):
        return False
    if pattern.patterns:
        if isinstance(kind, type) and len(pattern.patterns) == 1:  # case int(x)
            return _fits(machine, pattern.patterns[0], value, frame)
        names = kind.find("__match_args__") if isinstance(kind, Class) else None
        if not isinstance(names, tuple) or not isinstance(value, Instance):
            raise machine.unread("a class pattern by position is not known")
        values = [machine.attribute(value, each) for each in names[: len(pattern.patterns)]]
        if not _all_fit(machine, pattern.patterns, values, frame):
            return False
    for name, each in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        try:
            inner = machine.attribute(value, name)
        except AttributeError as error:
            let_go(error)
            return False
        if isinstance(inner, Unknown):
            raise inner.unread()
        if not _fits(machine, each, inner, frame):
            return False
    return True


def _all_fit(
    machine: Machine, patterns: Sequence[ast.pattern], values: Sequence[Value], frame: Frame
) -> bool:
    return all(
        _fits(machine, pattern, value, frame)
        for pattern, value in zip(patterns, values, strict=True)
    )


def _bind(machine: Machine, name: str | None, value: Value, frame: Frame) -> None:
    if name is not None:
        machine.assign(ast.Name(name, ast.Store()), value, frame)


PATTERNS: dict[type, Callable[..., bool]] = {
    ast.MatchValue: _value,
    ast.MatchSingleton: _singleton,
    ast.MatchAs: _as,
    ast.MatchOr: _or,
    ast.MatchSequence: _sequence,
    ast.MatchMapping: _mapping,
    ast.MatchClass: _class,
}
