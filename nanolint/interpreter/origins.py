"""Origins of the operands that PyTorch refuses: the line of the project that binds each."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from nanolint.interpreter.certain import operands_of
from nanolint.interpreter.exceptions import CALL
from nanolint.interpreter.interpreter import parsed
from nanolint.interpreter.scopes import Frame
from nanolint.interpreter.torch.modules import is_module
from nanolint.interpreter.values import Instance
from nanolint.run.stop import quoted
from nanolint.source.python import walked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Class, Namespace, Value
    from nanolint.run.stop import Line


# Names that sizes of tensors go by.
SIZES = re.compile(r"^[A-Z]$|(?i:embd|embed|dim|hidden|head|block|batch|seq|context|vocab|width)")
SMALL = 2  # so many elements anything may have


class Names(NamedTuple):
    """The names of a call, or of a module, and the line that runs."""

    path: str  # of the project, or empty
    line: int
    table: Mapping[str, Value]
    first: int  # the line that the function begins on


def described(error: BaseException, main: Namespace) -> tuple[str, ...]:
    """The operands in words: ``GELU output (12, T 1024, 3072)``. Sizes have names of ``main``; of
    two alike in one shape it is not known which is meant."""
    names, found = _sizes(main), []
    for each in operands_of(error):
        of_one = {
            size: names[size]
            for size in each.shape
            if each.shape.count(size) == 1 and size in names
        }
        sizes = ", ".join(f"{of_one[n]} {n}" if n in of_one else str(n) for n in each.shape)
        kind = f" {each.dtype.name}" if "type" in str(error) else ""
        found.append(f"{each.role.label} ({sizes}){kind}")
    return tuple(found)


def _sizes(main: Namespace) -> dict[int, str]:
    """Sizes that the script has one name for, among its globals and in objects that they are."""
    tables = [main.names]
    tables += [e.attributes for e in tables[0].values() if type(e) is Instance and not is_module(e)]
    found: dict[int, set[str]] = {}
    for name, value in ((name, value) for table in tables for name, value in table.items()):
        if type(value) is int and value > SMALL and SIZES.search(name):
            found.setdefault(value, set()).add(name)
    return {size: names.pop() for size, names in found.items() if len(names) == 1}


def made(
    machine: Machine,
    main: Namespace,
    error: BaseException,
    words: Iterable[str],
    texts: Mapping[str, str],
) -> tuple[tuple[str, Line], ...]:
    """Returns for each operand that has a name its words and the line that binds it."""
    scopes = list(_scopes(error, main, machine.line))
    found: dict[Line, str] = {}
    for operand, what in zip(operands_of(error), words, strict=True):
        place = _bound(operand, scopes, texts)
        if place is not None:
            found.setdefault(quoted([place], texts)[0], what)
    return tuple((what, line) for line, what in found.items())


def _scopes(error: BaseException, main: Namespace, line: int) -> Iterator[Names]:
    """The names that each call sees that the exception has left, the innermost first."""
    calls, traced = [], error.__traceback__
    while traced is not None:
        names = traced.tb_frame.f_locals
        is_call = traced.tb_frame.f_code.co_name == CALL and "caller" in names
        if is_call and isinstance(names.get("frame"), Frame):
            calls.append(names)
        traced = traced.tb_next
    for each in reversed(calls):
        frame = each["frame"]
        yield Names(frame.module.path, line, frame.names, frame.function.node.lineno)
        line = each["line"]
    yield Names(main.path, line, main.names, 0)


def _bound(
    wanted: Value, scopes: Iterable[Names], texts: Mapping[str, str]
) -> tuple[str, int] | None:
    """The line that binds the innermost name of ``wanted``, or of the object that has it."""
    for scope in scopes:
        for name, value in scope.table.items():
            if value is wanted and scope.path:
                tree, within = parsed(texts.get(scope.path, "")), range(scope.first, scope.line)
                lines = [n for n in _stored(tree, name) if n in within]
                if lines:
                    return scope.path, max(lines)
            attributes = value.attributes if isinstance(value, Instance) else {}
            attribute = next((key for key, each in attributes.items() if each is wanted), None)
            if attribute is not None:
                lines = list(_kept(value.cls, attribute, texts))
                if lines:
                    return value.cls.module.path, lines[0]
                wanted = value
    return None


def _stored(tree: ast.Module | None, name: str) -> Iterator[int]:
    """The lines that bind a name."""
    for node in walked(tree) if tree is not None else ():
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            yield node.lineno


def _kept(cls: Class, name: str, texts: Mapping[str, str]) -> Iterator[int]:
    """The lines of a class that bind an attribute of ``self``, or register it."""
    tree = parsed(texts.get(cls.module.path, ""))
    for node in walked(tree) if tree is not None else ():
        if isinstance(node, ast.ClassDef) and node.name == cls.name:
            for each in ast.walk(node):
                if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
                    if each.attr == name:
                        yield each.lineno
                elif isinstance(each, ast.Call) and _registers(each, name):
                    yield each.lineno


def _registers(call: ast.Call, name: str) -> bool:
    """Whether a call is ``self.register_buffer("name", ...)``."""
    return ast.unparse(call).startswith(f"self.register_buffer({name!r}")
