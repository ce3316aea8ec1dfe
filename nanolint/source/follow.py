"""The statements of a file, followed from top to bottom as a run would, but not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanolint.diagnostics import Span
from nanolint.source.assignments import Assignment, Factor, Module, Read
from nanolint.source.comments import comments
from nanolint.source.evaluate import evaluate
from nanolint.source.nodes import bound_name, dotted
from nanolint.source.scope import Scope, operate
from nanolint.source.symbols import symbol
from nanolint.source.targets import factors_of, integer, unpack
from nanolint.source.text import LineIndex
from nanolint.source.uses import Uses
from nanolint.source.values import Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from nanolint.source.values import Value

    StarImport = Callable[[str], Mapping[str, Value] | None]


class Follower:
    """The state of a file while its statements are followed."""

    def __init__(
        self,
        text: str,
        positions: dict[cst.CSTNode, tuple[int, int]],
        environment: Mapping[str, Value],
        star_import: StarImport | None,
    ) -> None:
        self._text = text
        self._positions = positions
        self._lines = LineIndex(text)
        self._star_import = star_import
        self._names = dict(environment)
        self._scope = Scope(self._names)
        self._written: dict[str, None] = {}  # in the order of the first writing
        self._dynamic: dict[str, str] = {}
        self._declared_global: dict[str, str] = {}  # by functions, which may run at any time
        self._assignments: list[Assignment] = []
        self._imported: list[tuple[str, Value]] = []
        self._uses: dict[cst.CSTNode, Uses] = {}

    def module(self, tree: cst.Module) -> Module:
        """What has been read."""
        loads = [load for node in _statements(tree) for load in self._uses_of(node).loads]
        dynamic = dict(self._dynamic)
        if self._scope.clouded is not None:
            dynamic["*"] = self._scope.clouded
        return Module(
            assignments=tuple(self._assignments),
            reads=tuple(
                Read(node.value, self._inner_span(node), in_text) for node, in_text in loads
            ),
            comments=tuple(comments(self._positions, self._text, self._lines)),
            dynamic=tuple(dynamic.items()),
            imported=tuple(self._imported),
            final={name: self._names[name] for name in self._written},
        )

    def follow(self, body: Sequence[cst.CSTNode], *, branch: bool = False) -> None:
        """Take in statements that surely run; ``branch``: because the test of an ``if`` holds."""
        for statement in body:
            if isinstance(statement, cst.If):
                self._if(statement)
            elif isinstance(statement, cst.SimpleStatementLine):
                self._simple_line(statement, branch)
            elif isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
                self._definition(statement)
            else:
                self._uncertain(statement)

    # Statements

    def _simple_line(
        self, line: cst.SimpleStatementLine | cst.SimpleStatementSuite, branch: bool
    ) -> None:
        start, end = self._positions[line.body[0]][0], self._positions[line.body[-1]][1]
        logical_line = Span(start, start + len(self._text[start:end].rstrip(" \t\f\\\r\n")))
        for statement in line.body:
            uses = self._uses_of(statement)
            for name in uses.walrus:  # before: the statement itself may read the name
                self._forget(name, f"set by := on line {self._row(statement)}")
            self._effects(statement, uses)
            if isinstance(statement, cst.Assign):
                self._assign(statement, logical_line, branch)
            elif isinstance(statement, cst.AnnAssign) and statement.value is not None:
                self._bind([statement.target], statement.value, logical_line, shared=branch)
            elif isinstance(statement, cst.AugAssign):
                self._augmented(statement, logical_line)
            elif isinstance(statement, cst.Import):
                for alias in statement.names:
                    self._set(bound_name(alias).value, Unknown("an imported module"))
            elif isinstance(statement, cst.ImportFrom):
                self._import_from(statement)
            elif isinstance(statement, cst.Del):
                for name in uses.binds:
                    self._forget(name, f"deleted on line {self._row(statement)}")

    def _assign(self, statement: cst.Assign, line: Span, branch: bool) -> None:
        targets = [target.target for target in statement.targets]
        self._bind(targets, statement.value, line, shared=branch or len(targets) > 1)

    def _augmented(self, statement: cst.AugAssign, line: Span) -> None:
        right = evaluate(statement.value, self._scope)
        if isinstance(statement.target, cst.Name):
            left = evaluate(statement.target, self._scope)
            value = operate(symbol(statement.operator), left, right, self._scope)
            own = frozenset({statement.target.value})
            self._record(
                statement.target, value, statement.value, line, shared=True, more_reads=own
            )

    def _import_from(self, statement: cst.ImportFrom) -> None:
        module = "." * len(statement.relative) + dotted(statement.module)
        if module == "__future__":
            return
        if isinstance(statement.names, cst.ImportStar):
            found = self._star_import(module) if self._star_import else None
            if found is None:
                row = self._row(statement)
                self._cloud(f"line {row} imports all of {module}, which was not found")
                return
            for name, value in found.items():
                self._import(name, value)
            return
        # Classes and functions have no value here: not worth reading their module for.
        worth = any(dotted(alias.name).islower() for alias in statement.names)
        found = self._star_import(module) if self._star_import and worth else None
        for alias in statement.names:
            unknown = Unknown(f"imported from {module}")
            value = (found or {}).get(dotted(alias.name), unknown)
            self._import(bound_name(alias).value, value)

    def _import(self, name: str, value: Value) -> None:
        self._imported.append((name, value))
        self._set(name, value)

    def _definition(self, statement: cst.FunctionDef | cst.ClassDef) -> None:
        self._effects(statement, self._uses_of(statement))
        self._set(statement.name.value, Unknown("a function or class"))

    def _if(self, statement: cst.If) -> None:
        test = evaluate(statement.test, self._scope)
        if isinstance(test, Unknown) or self._uses_of(statement.test).walrus:
            self._uncertain(statement)
        elif test.value:
            self._block(statement.body)
        elif isinstance(statement.orelse, cst.If):
            self._if(statement.orelse)
        elif statement.orelse is not None:
            self._block(statement.orelse.body)

    def _block(self, block: cst.BaseSuite) -> None:
        if isinstance(block, cst.SimpleStatementSuite):
            self._simple_line(block, branch=True)
        else:
            self.follow(block.body, branch=True)

    def _uncertain(self, statement: cst.CSTNode) -> None:
        """Take in a statement whose parts may run, or not, or often."""
        uses = self._uses_of(statement)
        self._effects(statement, uses)
        keyword = _KEYWORDS.get(type(statement), "a block")
        for name in sorted(uses.binds):
            self._forget(name, f"set under {keyword} on line {self._row(statement)}")

    def _effects(self, statement: cst.CSTNode, uses: Uses) -> None:
        """Take in what a statement of any kind may do besides binding names."""
        row = self._row(statement)
        star = isinstance(statement, cst.ImportFrom)  # may be found, see _import_from
        if uses.clouds and not star:
            self._cloud(f"any name may be set at run time on line {row}")
        for name in sorted(uses.later):
            reason = f"set by a function at run time, see line {row}"
            self._declared_global[name] = reason
            self._forget(name, reason)
        if uses.changes and any(map(self._is_mutable, uses.names)):
            for name in filter(self._is_mutable, tuple(self._names)):
                self._forget(name, f"a list or dictionary that line {row} may change")

    def _is_mutable(self, name: str) -> bool:
        value = self._names.get(name)
        return isinstance(value, Known) and isinstance(value.value, (list, dict))

    # Names

    def _bind(
        self,
        targets: Sequence[cst.CSTNode],
        expression: cst.BaseExpression,
        line: Span,
        *,
        shared: bool,
    ) -> None:
        """Bind targets to the value of ``expression``, unpacking both where they match."""
        parts = [part for target in targets for part in unpack(target, expression)]
        # All values first: in ``a, b = b, a`` the names still have their old ones.
        values = [part.pick(evaluate(part.expression, self._scope)) for part in parts]
        shared = shared or any(isinstance(target, (cst.Tuple, cst.List)) for target in targets)
        for part, value in zip(parts, values, strict=True):
            factors = () if part.path else factors_of(part.expression)
            self._record(part.name, value, part.expression, line, shared=shared, factors=factors)

    def _record(
        self,
        target: cst.Name,
        value: Value,
        expression: cst.BaseExpression,
        line: Span,
        *,
        shared: bool,
        factors: Iterable[cst.BaseExpression] = (),
        more_reads: frozenset[str] = frozenset(),
    ) -> None:
        span = self._span(expression)
        self._assignments.append(
            Assignment(
                key=target.value,
                value=value,
                statement=line,
                key_span=self._inner_span(target),
                value_span=span,
                expression=self._text[span.start : span.end],
                factors=tuple(self._factor(node) for node in factors),
                reads=self._uses_of(expression).names | more_reads,
                shared=shared,
            )
        )
        self._set(target.value, value)

    def _factor(self, node: cst.BaseExpression) -> Factor:
        value = integer(node)
        return Factor(self._span(node) if value is None else self._inner_span(node), value)

    def _set(self, name: str, value: Value) -> None:
        """``name`` surely has ``value`` now, unless a function may set it at any time."""
        self._written[name] = None
        if name in self._declared_global:
            self._names[name] = Unknown(self._declared_global[name])
        else:
            self._names[name] = value
            self._dynamic.pop(name, None)

    def _forget(self, name: str, reason: str) -> None:
        self._written[name] = None
        self._names[name] = Unknown(reason)
        self._dynamic[name] = reason

    def _cloud(self, reason: str) -> None:
        self._scope.clouded = reason
        for name in self._names:
            self._names[name] = Unknown(reason)

    # Places

    def _uses_of(self, node: cst.CSTNode) -> Uses:
        if node not in self._uses:
            self._uses[node] = Uses(node)
        return self._uses[node]

    def _span(self, node: cst.CSTNode) -> Span:
        """The characters of ``node`` with its own parentheses."""
        return Span(*self._positions[node])

    def _inner_span(self, node: cst.BaseExpression) -> Span:
        """The characters of ``node`` without them."""
        start, end = self._positions[node]
        if node.lpar:
            start, end = self._positions[node.lpar[-1]][1], self._positions[node.rpar[0]][0]
        return Span(start, end)

    def _row(self, statement: cst.CSTNode) -> int:
        leading = getattr(statement, "leading_lines", ())
        start = self._positions[leading[-1]][1] if leading else self._positions[statement][0]
        return self._lines.position(start)[0]


def _statements(tree: cst.Module) -> Iterator[cst.CSTNode]:
    """The statements at the top, those of one line apart."""
    for statement in tree.body:
        yield from statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]


_KEYWORDS: dict[type[cst.CSTNode], str] = {
    cst.For: "`for`",
    cst.If: "`if`",
    cst.Match: "`match`",
    cst.Try: "`try`",
    cst.TryStar: "`try`",
    cst.While: "`while`",
    cst.With: "`with`",
}
