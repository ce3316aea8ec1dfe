"""The statements of a script between its settings and its loop, followed but not run."""

from __future__ import annotations

import ast
import copy
from contextlib import suppress
from typing import TYPE_CHECKING

from nanolint.source.python import of_node
from nanolint.trainers.nanogpt.setup.expressions import (
    Built,
    Evaluator,
    Just,
    Mystery,
    Named,
    Row,
    Table,
    Thing,
    merged,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nanolint.trainers.nanogpt.setup.expressions import Surroundings

_LEAVES = (ast.Raise, ast.Return, ast.Continue, ast.Break)
_EXITS = frozenset({"exit", "quit", "sys.exit", "os._exit"})
MOST_STATEMENTS = 20_000  # followed, however often a function is called


class _Reached(Exception):
    """The training loop is next."""


class Follower:
    """What every name of a script stands for when its training loop begins."""

    def __init__(
        self,
        names: dict[str, Thing],
        functions: dict[str, ast.FunctionDef],
        surroundings: Surroundings,
    ) -> None:
        self._evaluator = Evaluator(names, surroundings)
        self._functions = functions
        self._left = MOST_STATEMENTS
        self.loop: ast.stmt | None = None  # the one that runs backward(), once it is reached

    @property
    def names(self) -> dict[str, Thing]:
        """What each name stands for now."""
        return self._evaluator.names

    def value(self, node: ast.expr) -> Thing:
        """What an expression stands for now."""
        return self._evaluator.value(node)

    def follow(self, body: Iterable[ast.stmt]) -> None:
        """Take in ``body``, up to the training loop where there is one."""
        with suppress(_Reached):
            self._block(body)

    def _block(self, body: Iterable[ast.stmt]) -> bool:
        """Take in statements in their order; False: what is below them is not reached."""
        return all(self._statement(statement) for statement in body)

    def _statement(self, statement: ast.stmt) -> bool:
        self._left -= 1
        if self._left < 0:
            return False
        if isinstance(statement, (ast.For, ast.While)) and runs_backward(statement):
            self.loop = statement
            raise _Reached
        if isinstance(statement, _LEAVES) or self._exits(statement):
            return False
        handler = _HANDLERS.get(type(statement))
        result = handler(self, statement) if handler else None
        return result is not False

    def _exits(self, statement: ast.stmt) -> bool:
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            return False
        return ast.unparse(statement.value.func) in _EXITS

    # Statements

    def _assign(self, statement: ast.Assign) -> None:
        value = self.value(statement.value)
        for target in statement.targets:
            self._bind(target, value)

    def _annotated(self, statement: ast.AnnAssign) -> None:
        if statement.value is not None:
            self._bind(statement.target, self.value(statement.value))

    def _augmented(self, statement: ast.AugAssign) -> None:
        reading = copy.copy(statement.target)
        reading.ctx = ast.Load()
        operation = ast.BinOp(reading, statement.op, statement.value)
        self._bind(statement.target, self.value(ast.copy_location(operation, statement)))

    def _bind(self, target: ast.expr, value: Thing) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            items: tuple[Thing, ...] = ()
            if isinstance(value, Row) and len(value.items) == len(target.elts):
                items = value.items
            for index, element in enumerate(target.elts):
                unknown = _unknown(value, "one of several values at run time", target.lineno)
                self._bind(element, items[index] if items else unknown)
        elif isinstance(target, ast.Subscript):
            self._bind_item(target, value)
        elif isinstance(target, ast.Attribute):
            owner = self.value(target.value)
            if isinstance(owner, Built):
                owner.fields.entries[target.attr] = value

    def _bind_item(self, target: ast.Subscript, value: Thing) -> None:
        owner, index = self.value(target.value), self.value(target.slice)
        if not isinstance(owner, Table):
            return
        if isinstance(index, Just) and isinstance(index.value, (int, float, str)):
            owner.entries[index.value] = value
            return
        owner.rest = Mystery("an entry is set at run time", target.lineno)
        owner.entries.clear()
        if isinstance(target.value, ast.Call):  # globals()[name] = value
            self._forget_all(owner.rest)

    def _forget_all(self, reason: Mystery) -> None:
        for name, thing in self.names.items():
            if not isinstance(thing, Named):
                self.names[name] = reason

    def _delete(self, statement: ast.Delete) -> None:
        for target in statement.targets:
            if isinstance(target, ast.Name):
                self.names.pop(target.id, None)

    def _if(self, statement: ast.If) -> bool:
        test = self.value(statement.test)
        if isinstance(test, Just):
            return self._block(statement.body if test.value else statement.orelse)
        unknown = _unknown(test, "a condition at run time", statement.lineno)
        return self._either(statement.body, statement.orelse, unknown)

    def _either(self, one: list[ast.stmt], other: list[ast.stmt], unknown: Mystery) -> bool:
        """Take in two blocks of which only one runs."""
        before = self.names
        self._evaluator.names = copy.deepcopy(before)
        one_goes_on = self._block(one)
        after_one = self.names
        self._evaluator.names = before
        other_goes_on = self._block(other)
        if not one_goes_on:
            return other_goes_on
        if not other_goes_on:
            self._evaluator.names = after_one
            return True
        self._merge(after_one, unknown)
        return True

    def _merge(self, other: dict[str, Thing], unknown: Mystery) -> None:
        mine = self.names
        self._evaluator.names = {
            name: merged(mine.get(name), other.get(name), lambda: unknown)
            for name in {**mine, **other}
        }

    def _repeated(self, statement: ast.For | ast.While) -> None:
        unknown = Mystery("set in a loop", statement.lineno)
        if isinstance(statement, ast.For):
            self._bind(statement.target, unknown)
        self._either([*statement.body, *statement.orelse], [], unknown)

    def _with(self, statement: ast.With) -> bool:
        for item in statement.items:
            value = self.value(item.context_expr)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, value)
        return self._block(statement.body)

    def _try(self, statement: ast.Try) -> bool:
        unknown = Mystery("set under `try`", statement.lineno)
        handled = [entry for handler in statement.handlers for entry in handler.body]
        goes_on = self._either([*statement.body, *statement.orelse], handled, unknown)
        return self._block(statement.finalbody) and goes_on

    def _expression(self, statement: ast.Expr) -> None:
        call = statement.value
        if not isinstance(call, ast.Call):
            return
        function = self._functions.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if function is not None and runs_backward(function):
            self._enter(function, call)
            return
        if isinstance(call.func, ast.Name) and call.func.id == "exec":
            self._forget_all(Mystery("text is run as code", statement.lineno))
        self.value(call)

    def _enter(self, function: ast.FunctionDef, call: ast.Call) -> None:
        """The body of a function that trains, with what it is given."""
        parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        for parameter in parameters:
            self.names[parameter.arg] = Mystery("an argument at run time", call.lineno)
        defaults = function.args.defaults
        last = parameters[len(parameters) - len(defaults) :]
        for parameter, node in zip(last, defaults, strict=False):
            self.names[parameter.arg] = self.value(node)
        for parameter, node in zip(parameters, call.args, strict=False):
            self.names[parameter.arg] = self.value(node)
        for keyword in call.keywords:
            if keyword.arg is not None:
                self.names[keyword.arg] = self.value(keyword.value)
        self._block(function.body)

    def _import(self, statement: ast.Import) -> None:
        for alias in statement.names:
            first = alias.name.partition(".")[0]
            self.names[alias.asname or first] = Named(alias.name if alias.asname else first)

    def _import_from(self, statement: ast.ImportFrom) -> None:
        module = "." * statement.level + (statement.module or "")
        for alias in statement.names:
            self.names[alias.asname or alias.name] = Named(f"{module}.{alias.name}")

    def _definition(self, statement: ast.FunctionDef | ast.ClassDef) -> None:
        self.names[statement.name] = Named(statement.name)
        for name, line in _declared_global(statement):
            if name in self.names:
                self.names[name] = Mystery(f"set by {statement.name}()", line)


@of_node
def _declared_global(definition: ast.FunctionDef | ast.ClassDef) -> tuple[tuple[str, int], ...]:
    return tuple(
        (name, node.lineno)
        for node in ast.walk(definition)
        if isinstance(node, ast.Global)
        for name in node.names
    )


@of_node
def runs_backward(tree: ast.AST) -> bool:
    """Whether ``.backward(...)`` is called anywhere in it."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "backward"
        for node in ast.walk(tree)
    )


def _unknown(thing: Thing, otherwise: str, line: int) -> Mystery:
    return thing if isinstance(thing, Mystery) else Mystery(otherwise, line)


_HANDLERS: dict[type[ast.stmt], Callable[..., bool | None]] = {
    ast.AnnAssign: Follower._annotated,
    ast.Assign: Follower._assign,
    ast.AugAssign: Follower._augmented,
    ast.ClassDef: Follower._definition,
    ast.Delete: Follower._delete,
    ast.Expr: Follower._expression,
    ast.For: Follower._repeated,
    ast.FunctionDef: Follower._definition,
    ast.If: Follower._if,
    ast.Import: Follower._import,
    ast.ImportFrom: Follower._import_from,
    ast.Try: Follower._try,
    ast.While: Follower._repeated,
    ast.With: Follower._with,
}
