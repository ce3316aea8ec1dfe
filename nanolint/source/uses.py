"""Which names a piece of code reads, and which globals running it may write."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import libcst as cst

from nanolint.source.assignments import EVERY, Read
from nanolint.source.operations import BUILTINS
from nanolint.source.symbols import bound_name, code_fields, dotted, is_namespace, is_str_format
from nanolint.source.syntax import Uses

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nanolint.diagnostics import Span


class Flow(Enum):
    """Where the value of an expression goes."""

    STRAIGHT = 1  # into an assignment, at most joined to other text
    TEXT = 2  # only into a string that goes straight, or onto the screen
    ANYWHERE = 3


# Reading one of these names hands out the globals, or runs text as code.
_ESCAPES = frozenset({"exec", "eval", "globals", "locals", "vars", "__builtins__"})
# Attributes that lead from a frame or a module to the globals.
_FRAMES = frozenset({"f_globals", "f_locals", "__dict__"})
_HARMLESS_METHODS = frozenset({"copy", "get", "items", "keys", "values"})
_HARMLESS_CALLS = frozenset({"dict", "len", "list", "print", "set", "sorted"})
_TO_TEXT = frozenset({"str", "repr", "format", "print"})
_CONSTANTS = frozenset({"None", "True", "False"})
# Their parts go where they go themselves.
_PASSING = frozenset({cst.Tuple, cst.Element, cst.ConcatenatedString, cst.FormattedString})


def uses_of(
    node: cst.CSTNode, place_of: Callable[[cst.Name], Span], flow: Flow = Flow.STRAIGHT
) -> Uses:
    """What one statement or expression does with names; ``place_of`` says where a name stands."""
    found = _Collector()
    found.visit(node, flow)
    return Uses(
        reads=tuple(Read(name, place_of(node), in_text) for name, node, in_text in found.loads),
        binds=frozenset(found.binds),
        walrus=frozenset(found.walrus),
        later=frozenset(found.later),
        dynamic=found.dynamic,
        changes=found.changes,
    )


class _Collector:
    """Fills in what ``Uses`` has, node by node."""

    def __init__(self) -> None:
        self.loads: list[tuple[str, cst.Name, bool]] = []
        self.binds: set[str] = set()
        self.walrus: set[str] = set()
        self.later: set[str] = set()
        self.dynamic = False
        self.changes = False
        self._depth = 0  # of functions and classes

    def visit(self, node: cst.CSTNode, flow: Flow) -> None:
        """Note what ``node`` does, its value going to ``flow``."""
        handler = _HANDLERS.get(type(node))
        if handler is not None:
            handler(self, node, flow)
        else:
            self._parts(node, flow)

    def _parts(self, node: cst.CSTNode, flow: Flow) -> None:
        """Visit whatever ``node`` is made of."""
        passed = flow if type(node) in _PASSING else _onward(flow)
        for name in code_fields(type(node)):
            part = getattr(node, name)
            if isinstance(part, cst.CSTNode):
                self.visit(part, passed)
            elif isinstance(part, (tuple, list)):
                for item in part:
                    self.visit(item, passed)

    def _bind(self, target: cst.CSTNode) -> None:
        if isinstance(target, cst.Name):
            if not self._depth:
                self.binds.add(target.value)
        elif isinstance(target, (cst.Tuple, cst.List)):
            for element in target.elements:
                self._bind(element.value)
        elif isinstance(target, cst.StarredElement):
            self._bind(target.value)
        else:
            self.changes = True
            if isinstance(target, cst.Subscript) and is_namespace(target.value):
                self.dynamic = True
            self.visit(target, Flow.ANYWHERE)

    def _inside(self, node: cst.CSTNode | None) -> None:
        """Visit the body of a function or class, whose bindings are its own."""
        self._depth += 1
        if node is not None:
            self.visit(node, Flow.ANYWHERE)
        self._depth -= 1

    def _name(self, node: cst.Name, flow: Flow) -> None:
        if node.value not in _CONSTANTS:
            self.loads.append((node.value, node, flow is Flow.TEXT))
            self.dynamic |= node.value in _ESCAPES

    def _attribute(self, node: cst.Attribute, flow: Flow) -> None:
        if is_namespace(node.value) and node.attr.value in _HARMLESS_METHODS:
            self._namespace(node.value)
            return
        if node.attr.value in _FRAMES:
            self.loads.append((EVERY, node.attr, False))
        if isinstance(node.value, cst.Name) and node.value.value == "sys":
            self.dynamic |= node.attr.value == "modules"
        self.visit(node.value, _onward(flow))

    def _subscript(self, node: cst.Subscript, flow: Flow) -> None:
        passed = _onward(flow)
        if is_namespace(node.value):
            self._namespace(node.value)
        else:
            self.visit(node.value, passed)
        for element in node.slice:
            self.visit(element, passed)

    def _namespace(self, node: cst.CSTNode) -> None:
        """Note that ``globals()`` is read."""
        name = cst.ensure_type(cst.ensure_type(node, cst.Call).func, cst.Name)
        self.loads.append((EVERY, name, False))

    def _comparison(self, node: cst.Comparison, flow: Flow) -> None:
        passed = _onward(flow)
        self.visit(node.left, passed)
        for target in node.comparisons:
            if not is_namespace(target.comparator):  # 'x' in globals()
                self.visit(target.comparator, passed)

    def _call(self, node: cst.Call, flow: Flow) -> None:
        name = node.func.value if isinstance(node.func, cst.Name) else ""
        passed = _onward(flow)
        if flow is Flow.STRAIGHT:
            if name in _TO_TEXT or is_str_format(node.func):
                passed = Flow.TEXT
            elif dotted(node.func) == "os.path.join":
                passed = Flow.STRAIGHT
        self.changes |= name not in BUILTINS and name != "print"
        if name != "vars" or not node.args:  # vars(something) is no way to the globals
            self.visit(node.func, _onward(flow))
        for argument in node.args:
            if name not in _HARMLESS_CALLS or not is_namespace(argument.value):
                self.visit(argument.value, passed)
            elif name != "print":
                self._namespace(argument.value)

    def _operation(self, node: cst.BinaryOperation, flow: Flow) -> None:
        if flow is Flow.STRAIGHT and isinstance(node.operator, cst.Modulo):
            literal = isinstance(node.left, (cst.SimpleString, cst.ConcatenatedString))
            flow = Flow.TEXT if literal else Flow.ANYWHERE
        elif flow is Flow.STRAIGHT and not isinstance(node.operator, cst.Add):
            flow = Flow.ANYWHERE
        self.visit(node.left, flow)
        self.visit(node.right, flow)

    def _conditional(self, node: cst.IfExp, flow: Flow) -> None:
        self.visit(node.test, _onward(flow))
        self.visit(node.body, flow)
        self.visit(node.orelse, flow)

    def _field(self, node: cst.FormattedStringExpression, flow: Flow) -> None:
        passed = Flow.ANYWHERE if flow is Flow.ANYWHERE else Flow.TEXT
        self.visit(node.expression, passed)
        for part in node.format_spec or ():
            self.visit(part, passed)

    def _assignment(self, node: cst.Assign | cst.AnnAssign, _flow: Flow) -> None:
        straight = Flow.ANYWHERE if self._depth else Flow.STRAIGHT
        if isinstance(node, cst.Assign):
            for target in node.targets:
                self._bind(target.target)
        else:
            self.visit(node.annotation.annotation, Flow.ANYWHERE)
            if node.value is not None:
                self._bind(node.target)
        if node.value is not None:
            self.visit(node.value, straight)

    def _augmented(self, node: cst.AugAssign, _flow: Flow) -> None:
        self.changes = True  # a list, if the target is one, with all its other names
        self.visit(node.target, Flow.ANYWHERE)
        self._bind(node.target)
        self.visit(node.value, Flow.ANYWHERE)

    def _walrus(self, node: cst.NamedExpr, _flow: Flow) -> None:
        self._bind(node.target)
        if not self._depth and isinstance(node.target, cst.Name):
            self.walrus.add(node.target.value)
        self.visit(node.value, Flow.ANYWHERE)

    def _for(self, node: cst.For | cst.CompFor, _flow: Flow) -> None:
        if isinstance(node, cst.For):
            self._bind(node.target)
            parts: tuple[cst.CSTNode | None, ...] = (node.iter, node.body, node.orelse)
        else:
            parts = (node.iter, *node.ifs, node.inner_for_in)
        for part in parts:
            if part is not None:
                self.visit(part, Flow.ANYWHERE)

    def _as_name(self, node: cst.AsName, _flow: Flow) -> None:
        self._bind(node.name)

    def _import(self, node: cst.Import, _flow: Flow) -> None:
        for alias in node.names:
            self._bind(bound_name(alias))
            self.dynamic |= dotted(alias.name) == "__main__"

    def _import_from(self, node: cst.ImportFrom, _flow: Flow) -> None:
        if isinstance(node.names, cst.ImportStar):
            self.dynamic = True
            return
        for alias in node.names:
            self._bind(bound_name(alias))

    def _definition(self, node: cst.FunctionDef | cst.ClassDef, _flow: Flow) -> None:
        self._bind(node.name)
        for decorator in node.decorators:
            self.visit(decorator, Flow.ANYWHERE)
        if isinstance(node, cst.FunctionDef):
            self.visit(node.params, Flow.ANYWHERE)
            if node.returns is not None:
                self.visit(node.returns, Flow.ANYWHERE)
        else:
            for argument in (*node.bases, *node.keywords):
                self.visit(argument, Flow.ANYWHERE)
        self._inside(node.body)

    def _lambda(self, node: cst.Lambda, _flow: Flow) -> None:
        self.visit(node.params, Flow.ANYWHERE)
        self._inside(node.body)

    def _parameter(self, node: cst.Param, _flow: Flow) -> None:
        for part in (node.annotation, node.default):
            if part is not None:
                self.visit(part, Flow.ANYWHERE)

    def _global(self, node: cst.Global, _flow: Flow) -> None:
        if self._depth:
            self.later |= {item.name.value for item in node.names}

    def _captured(self, node: cst.MatchAs | cst.MatchStar | cst.MatchMapping, flow: Flow) -> None:
        name = node.rest if isinstance(node, cst.MatchMapping) else node.name
        if name is not None:
            self._bind(name)
        if isinstance(node, cst.MatchAs) and node.pattern is not None:
            self.visit(node.pattern, flow)
        if isinstance(node, cst.MatchMapping):
            for element in node.elements:
                self.visit(element.key, flow)
                self.visit(element.pattern, flow)

    def _type_alias(self, node: cst.TypeAlias, _flow: Flow) -> None:
        self._bind(node.name)
        self._inside(node.value)

    def _expression(self, node: cst.Expr, _flow: Flow) -> None:
        self.visit(node.value, Flow.STRAIGHT)  # its value is dropped


def _onward(flow: Flow) -> Flow:
    """Where the operand of something that is no text operation goes."""
    return Flow.TEXT if flow is Flow.TEXT else Flow.ANYWHERE


_HANDLERS: dict[type[cst.CSTNode], Callable[[_Collector, Any, Flow], None]] = {
    cst.AnnAssign: _Collector._assignment,
    cst.AsName: _Collector._as_name,
    cst.Assign: _Collector._assignment,
    cst.Attribute: _Collector._attribute,
    cst.AugAssign: _Collector._augmented,
    cst.BinaryOperation: _Collector._operation,
    cst.Call: _Collector._call,
    cst.ClassDef: _Collector._definition,
    cst.CompFor: _Collector._for,
    cst.Comparison: _Collector._comparison,
    cst.Del: lambda uses, node, _flow: uses._bind(node.target),
    cst.Expr: _Collector._expression,
    cst.For: _Collector._for,
    cst.FormattedStringExpression: _Collector._field,
    cst.FunctionDef: _Collector._definition,
    cst.Global: _Collector._global,
    cst.IfExp: _Collector._conditional,
    cst.Import: _Collector._import,
    cst.ImportFrom: _Collector._import_from,
    cst.Lambda: _Collector._lambda,
    cst.MatchAs: _Collector._captured,
    cst.MatchKeywordElement: lambda uses, node, flow: uses.visit(node.pattern, flow),
    cst.MatchMapping: _Collector._captured,
    cst.MatchStar: _Collector._captured,
    cst.Name: _Collector._name,
    cst.NamedExpr: _Collector._walrus,
    cst.Nonlocal: lambda _uses, _node, _flow: None,
    cst.Param: _Collector._parameter,
    cst.Subscript: _Collector._subscript,
    cst.TypeAlias: _Collector._type_alias,
}
