"""Works out a number of a program again, in other turns of its loop, as plain numbers.

It takes expressions and functions that do nothing else. Whatever it does not know for certain
raises Unsure: a name that the loop sets, a call of something else, a number that a run tells.
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.interpreter import operators
from nanolint.interpreter.counted import COUNTED
from nanolint.interpreter.torch.modules import is_module
from nanolint.interpreter.values import Function, Instance, Method, Namespace, Native, Partial
from nanolint.interpreter.watched import Watched
from nanolint.script import flows, when
from nanolint.source.python import nodes, of_node
from nanolint.tape.symbolic import Symbolic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.interpreter.counted import Turn
    from nanolint.interpreter.values import Value

MOST = 400  # nodes of a function that is worked out
DEPTH = 6  # of calls
HOLDERS = (Namespace, Native, Instance)  # a turn may change what they hold: that is asked for
PLAIN = (int, float, bool, str, type(None))
FAILURES = (ArithmeticError, TypeError, ValueError, LookupError, RecursionError)
TAKEN = ("min", "max", "abs", "int", "float", "round", "pow", "len", "bool", "sum")
BUILTINS: dict[str, Any] = {name: getattr(builtins, name) for name in TAKEN}
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
BINARY: dict[type[ast.operator], Any] = {kind: operators.BINARY[kind][1] for kind in ARITHMETIC}
COMPARED: dict[type[ast.cmpop], Any] = {kind: how for kind, (_, how) in operators.COMPARE.items()}
COMPARED |= {ast.Is: operator.is_, ast.IsNot: operator.is_not}
UNARY: dict[type, Any] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}


class Unsure(Exception):
    """It is not known for certain."""


class Made(NamedTuple):
    """A number that a function of the program returned, with what it was given."""

    value: Value
    function: Function
    arguments: tuple[Value, ...]


class Plain:
    """Numbers of the turns of a loop. ``banned`` are the names that the loop sets, as ``flows.py``
    calls them; ``made`` are numbers that functions returned, by their ids."""

    def __init__(self, turn: Turn | None, banned: frozenset[str], made: Mapping[int, Made]) -> None:
        self._turn, self._banned, self._made = turn, banned, made
        self.at = 0  # the turn
        self.symbols: list[Symbolic] = []
        self.given: Sequence[Any] | None = None  # other values of these
        self.numbers: Sequence[float] = ()  # of another program, by their places
        self._number = -1 if turn is None else turn.number
        self.is_nested = False  # there is a loop around this one

    # Values of the program.

    def number(self, value: Value) -> Any:
        """A value of the program in the turn ``at``."""
        kind = type(value)
        if kind in COUNTED:
            return self._of_turn(value)
        known = self._made.get(id(value)) if kind in (float, Watched) else None
        if known is not None and known.value is value:
            return self.called(known.function, [self.number(each) for each in known.arguments])
        if kind is Symbolic:
            return self._of_symbol(value)
        if kind is Watched:
            return value.among(self.numbers)
        if kind in PLAIN or isinstance(value, (Function, Method, Namespace, Native, Partial)):
            return value
        if kind in (list, tuple, dict) or (kind is Instance and not is_module(value)):
            return value
        raise Unsure

    def _of_turn(self, value: Any) -> Any:
        turn = self._turn
        is_another = turn is None or value.turn is not turn or value.number != self._number
        if turn is None or is_another or (self.is_nested and not _is_free(value.formula)):
            raise Unsure
        symbols = [self._of_symbol(each) for each in turn.symbols]
        return when.value(value.formula, self.at, symbols)

    def _of_symbol(self, value: Symbolic) -> Any:
        place = next((i for i, each in enumerate(self.symbols) if each is value), None)
        if place is None:
            if self.given is not None:
                raise Unsure
            self.symbols.append(value)
            place = len(self.symbols) - 1
        return value.value if self.given is None else self.given[place]

    def called(self, function: Value, arguments: list[Any], depth: int = 0) -> Any:
        """Returns the result of a function of the program."""
        if isinstance(function, Method):
            return self.called(function.function, [function.owner, *arguments], depth)
        if isinstance(function, Partial) and not function.keywords:
            given = [self.number(each) for each in function.arguments]
            return self.called(function.function, [*given, *arguments], depth)
        if isinstance(function, Native):
            name = function.name.removeprefix("math.")
            if name != function.name and callable(getattr(math, name, None)):
                return getattr(math, name)(*arguments)
            raise Unsure
        if type(function) is not Function or depth > DEPTH:
            raise Unsure
        node = function.node
        listed = [*node.args.posonlyargs, *node.args.args]
        if node.args.vararg or node.args.kwarg or node.args.kwonlyargs or _is_long(node):
            raise Unsure
        if isinstance(node, ast.AsyncFunctionDef) or len(arguments) > len(listed):
            raise Unsure
        rest = len(listed) - len(arguments)
        if rest > len(function.defaults):
            raise Unsure
        given = function.defaults[len(function.defaults) - rest :] if rest else []
        names = [each.arg for each in listed]
        values = [*arguments, *map(self.number, given)]
        call = Call(self, dict(zip(names, values, strict=True)), function, depth)
        if isinstance(node, ast.Lambda):
            return call.worked_out(node.body)
        return call.ran(node.body)

    def looked_up(self, node: ast.AST, value: Value) -> Any:
        """Returns the value of a name, an attribute or an entry that no turn sets."""
        is_made = id(value) in self._made and self._made[id(value)].value is value
        is_known = is_made or type(value) in COUNTED or isinstance(value, HOLDERS)
        if not is_known and _ident(node) in self._banned:
            raise Unsure
        return self.number(value)


class Call:
    """A call of a function; or statements of a loop, whose names are looked up in ``around``."""

    def __init__(
        self,
        of: Plain,
        names: dict[str, Any],
        function: Function | None,
        depth: int = 0,
        around: Mapping[str, Value] | None = None,
    ) -> None:
        self._of, self._names, self._function, self._depth = of, names, function, depth
        self._around = around or {}

    def ran(self, body: list[ast.stmt]) -> Any:
        """Returns what the statements return."""
        found = self._run(body)
        return None if found is None else found[0]

    def _run(self, body: list[ast.stmt]) -> tuple[Any] | None:
        for node in body:
            if isinstance(node, ast.Return):
                return (None if node.value is None else self.worked_out(node.value),)
            if isinstance(node, ast.If):
                chosen = node.body if self.worked_out(node.test) else node.orelse
                found = self._run(chosen)
                if found is not None:
                    return found
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if len(targets) != 1 or not isinstance(targets[0], ast.Name):
                    raise Unsure
                self._names[targets[0].id] = self.worked_out(node.value)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                if node.target.id not in self._names:
                    raise Unsure
                now = self._names[node.target.id]
                self._names[node.target.id] = _operator(node.op)(now, self.worked_out(node.value))
            elif isinstance(node, ast.Assert):
                if not self.worked_out(node.test):
                    raise Unsure
            elif not _does_nothing(node):
                raise Unsure
        return None

    def worked_out(self, node: ast.expr) -> Any:
        """The value of an expression."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self._named(node)
        if isinstance(node, ast.BinOp):
            return _operator(node.op)(self.worked_out(node.left), self.worked_out(node.right))
        if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
            return UNARY[type(node.op)](self.worked_out(node.operand))
        if isinstance(node, ast.IfExp):
            return self.worked_out(node.body if self.worked_out(node.test) else node.orelse)
        if isinstance(node, ast.BoolOp):
            found: Any = None
            for each in node.values:
                found = self.worked_out(each)
                if bool(found) is isinstance(node.op, ast.Or):
                    break
            return found
        if isinstance(node, ast.Compare):
            left = self.worked_out(node.left)
            for op, other in zip(node.ops, node.comparators, strict=True):
                right = self.worked_out(other)
                if type(op) not in COMPARED:
                    raise Unsure
                if not COMPARED[type(op)](left, right):
                    return False
                left = right
            return True
        if isinstance(node, ast.Call):
            return self._called(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Subscript):
            owner = self.worked_out(node.value)
            if not isinstance(owner, (list, tuple, dict)):
                raise Unsure
            return self._of.looked_up(node, owner[self.worked_out(node.slice)])
        if isinstance(node, (ast.Tuple, ast.List)):
            return [self.worked_out(each) for each in node.elts]
        raise Unsure

    def _named(self, node: ast.Name) -> Any:
        if node.id in self._names:
            return self._names[node.id]
        frame = None if self._function is None else self._function.closure
        while frame is not None:
            if node.id in frame.names:
                return self._of.looked_up(node, frame.names[node.id])
            frame = frame.closure
        names = self._around if self._function is None else self._function.module.names
        if node.id in names:
            return self._of.looked_up(node, names[node.id])
        raise Unsure

    def _attribute(self, node: ast.Attribute) -> Any:
        owner = self.worked_out(node.value)
        if isinstance(owner, Namespace) and node.attr in owner.names:
            return self._of.looked_up(node, owner.names[node.attr])
        if isinstance(owner, Instance):
            if node.attr in owner.attributes:
                return self._of.looked_up(node, owner.attributes[node.attr])
            found = owner.cls.find(node.attr)
            if type(found) is Function:
                return Method(found, owner)
            if isinstance(found, PLAIN) and found is not None:
                return self._of.looked_up(node, found)
        raise Unsure

    def _called(self, node: ast.Call) -> Any:
        if any(isinstance(each, ast.Starred) for each in node.args) or node.keywords:
            raise Unsure
        arguments = [self.worked_out(each) for each in node.args]
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in BUILTINS and name not in self._names:
            try:
                function = self._named(node.func)  # type: ignore[arg-type]
            except Unsure:
                return BUILTINS[name](*arguments)
        else:
            function = self.worked_out(node.func)
        return self._of.called(function, arguments, self._depth + 1)


def _does_nothing(node: ast.stmt) -> bool:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or isinstance(node, ast.Pass)


def _operator(op: ast.operator) -> Any:
    if type(op) not in BINARY:
        raise Unsure
    return BINARY[type(op)]


def _ident(node: ast.AST) -> str:
    """Its name in ``flows.py``."""
    if isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return f"[{key}" if isinstance(key, str) else _ident(node.value)
    return next(iter(flows.named(node)), "")


def _is_free(formula: Any) -> bool:
    """Whether a loop around this one goes on counting."""
    if formula[0] == "of":
        return _is_free(formula[2]) and _is_free(formula[3])
    return bool(formula[0] != "turn" or formula[3])


@of_node
def _is_long(node: ast.AST) -> bool:
    return len(nodes(node)) > MOST
