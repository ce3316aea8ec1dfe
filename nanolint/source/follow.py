"""The statements of a file, followed from top to bottom as a run would, but not run.

An assignment says which target gets which part of the value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.source import syntax
from nanolint.source.assignments import Assignment, Factor, Module
from nanolint.source.evaluate import evaluate
from nanolint.source.scope import Scope, operate
from nanolint.source.syntax import Binary, Constant, Expression, Name, Sequence, Starred
from nanolint.source.values import Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from nanolint.diagnostics import Span
    from nanolint.source.syntax import Expression, Statement, Tree
    from nanolint.source.values import Value

    StarImport = Callable[[str], Mapping[str, Value] | None]
    from collections.abc import Iterator


def follow(
    text: str, tree: Tree, environment: Mapping[str, Value], star_import: StarImport | None
) -> Module:
    """What the file of ``tree`` sets. See ``parse`` for the other parameters."""
    follower = _Follower(text, environment, star_import)
    follower.follow(tree.statements)
    return follower.module(tree)


class _Follower:
    """The state of a file while its statements are followed."""

    def __init__(
        self, text: str, environment: Mapping[str, Value], star_import: StarImport | None
    ) -> None:
        self._text = text
        self._star_import = star_import
        self._names = dict(environment)
        self._scope = Scope(self._names)
        self._written: dict[str, None] = {}  # in the order of the first writing
        self._dynamic: dict[str, str] = {}
        self._declared_global: dict[str, str] = {}  # by functions, which may run at any time
        self._assignments: list[Assignment] = []
        self._imported: list[tuple[str, Value]] = []

    def module(self, tree: Tree) -> Module:
        """What has been read."""
        dynamic = dict(self._dynamic)
        if self._scope.dynamic is not None:
            dynamic["*"] = self._scope.dynamic
        return Module(
            assignments=tuple(self._assignments),
            reads=tuple(read for each in tree.statements for read in each.uses.reads),
            comments=tree.comments,
            dynamic=tuple(dynamic.items()),
            imported=tuple(self._imported),
            final={name: self._names[name] for name in self._written},
        )

    def follow(self, statements: Iterable[Statement], *, branch: bool = False) -> None:
        """Take in statements that surely run; ``branch``: because the test of an ``if`` holds."""
        for statement in statements:
            if isinstance(statement, syntax.Branch):
                self._branch(statement)
                continue
            for name in sorted(statement.uses.walrus):  # first: the statement may read the name
                self._forget(name, f"set by := on line {statement.row}")
            self._effects(statement)
            if isinstance(statement, syntax.Assign):
                self._assign(statement, branch=branch)
            elif isinstance(statement, syntax.Augment):
                self._augment(statement)
            elif isinstance(statement, syntax.Import):
                for name in statement.names:
                    self._set(name, Unknown("an imported module"))
            elif isinstance(statement, syntax.ImportFrom):
                self._import_from(statement)
            elif isinstance(statement, syntax.Delete):
                for name in sorted(statement.uses.binds):
                    self._forget(name, f"deleted on line {statement.row}")
            elif isinstance(statement, syntax.Definition):
                self._set(statement.name, Unknown("a function or class"))
            elif isinstance(statement, syntax.Block):
                self._forget_all(statement, statement.keyword)

    # Statements

    def _branch(self, statement: syntax.Branch) -> None:
        test = evaluate(statement.test, self._scope)
        if isinstance(test, Unknown) or statement.test_binds:
            self._effects(statement)
            self._forget_all(statement, "`if`")
        else:
            self.follow(statement.body if test.value else statement.orelse, branch=True)

    def _assign(self, statement: syntax.Assign, *, branch: bool) -> None:
        """Bind targets to the value of an expression, unpacking both where they match."""
        parts = [part for each in statement.targets for part in unpack(each, statement.value)]
        # All values first: in ``a, b = b, a`` the names still have their old ones.
        values = [part.pick(evaluate(part.expression, self._scope)) for part in parts]
        shared = branch or len(statement.targets) > 1
        shared = shared or any(isinstance(target, Sequence) for target in statement.targets)
        for part, value in zip(parts, values, strict=True):
            factors = () if part.path else tuple(factors_of(part.expression))
            self._record(part.name, value, part.expression, statement.line, factors, shared=shared)

    def _augment(self, statement: syntax.Augment) -> None:
        right = evaluate(statement.value, self._scope)
        if isinstance(statement.target, Name):
            left = evaluate(statement.target, self._scope)
            value = operate(statement.operator, left, right, self._scope)
            self._record(statement.target, value, statement.value, statement.line, shared=True)

    def _import_from(self, statement: syntax.ImportFrom) -> None:
        module = statement.module
        if module == "__future__":
            return
        # Classes and functions have no value here: not worth reading their module for.
        star = not statement.names
        worth = star or any(name.islower() for name, _ in statement.names)
        found = self._star_import(module) if self._star_import and worth else None
        if star:
            if found is None:
                row = statement.row
                self._make_dynamic(f"line {row} imports all of {module}, which was not found")
                return
            for name, value in found.items():
                self._import(name, value)
        for name, bound in statement.names:
            self._import(bound, (found or {}).get(name, Unknown(f"imported from {module}")))

    def _import(self, name: str, value: Value) -> None:
        self._imported.append((name, value))
        self._set(name, value)

    def _effects(self, statement: Statement) -> None:
        """Take in what a statement of any kind may do besides binding names."""
        uses, row = statement.uses, statement.row
        star = isinstance(statement, syntax.ImportFrom)  # may be found, see _import_from
        if uses.dynamic and not star:
            self._make_dynamic(f"any name may be set at run time on line {row}")
        for name in sorted(uses.later):
            reason = f"set by a function at run time, see line {row}"
            self._declared_global[name] = reason
            self._forget(name, reason)
        if uses.changes and any(self._is_mutable(read.name) for read in uses.reads):
            for name in filter(self._is_mutable, tuple(self._names)):
                self._forget(name, f"a list or dictionary that line {row} may change")

    def _forget_all(self, statement: Statement, keyword: str) -> None:
        for name in sorted(statement.uses.binds):
            self._forget(name, f"set under {keyword} on line {statement.row}")

    def _is_mutable(self, name: str) -> bool:
        value = self._names.get(name)
        return isinstance(value, Known) and isinstance(value.value, (list, dict))

    # Names

    def _record(
        self,
        target: Name,
        value: Value,
        expression: Expression,
        line: Span,
        factors: tuple[Factor, ...] = (),
        *,
        shared: bool,
    ) -> None:
        span = expression.span
        self._assignments.append(
            Assignment(
                key=target.name,
                value=value,
                statement=line,
                key_span=target.inner,
                value_span=span,
                expression=self._text[span.start : span.end],
                factors=factors,
                shared=shared,
            )
        )
        self._set(target.name, value)

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

    def _make_dynamic(self, reason: str) -> None:
        """Any name may be set now."""
        self._scope.dynamic = reason
        for name in self._names:
            self._names[name] = Unknown(reason)


_STARRED = -1


@dataclass(frozen=True, slots=True)
class Part:
    """A name, and the part of ``expression`` that it gets.

    ``path`` is empty when it gets all of it, else the index and the number of items to unpack,
    level by level.
    """

    name: Name
    expression: Expression
    path: tuple[tuple[int, int], ...] = ()

    def pick(self, value: Value) -> Value:
        """The part that the name gets, out of the value of the expression."""
        for index, length in self.path:
            if isinstance(value, Unknown):
                return Unknown(value.reason)
            if length == _STARRED:
                return Unknown("unpacked with a star")
            if not isinstance(value.value, (tuple, list, str)) or len(value.value) != length:
                return Unknown("unpacked from a value of another length")
            value = Known(value.value[index])
        return value


def unpack(
    target: Expression, expression: Expression, path: tuple[tuple[int, int], ...] = ()
) -> Iterator[Part]:
    """The names of ``target``; each gets an expression of its own where both are tuples."""
    if isinstance(target, Name):
        yield Part(target, expression, path)
    elif isinstance(target, Sequence):
        items = expression.items if isinstance(expression, Sequence) and not path else ()
        starred = any(isinstance(each, Starred) for each in (*target.items, *items))
        length = _STARRED if starred else len(target.items)
        for index, each in enumerate(target.items):
            inner = each.value if isinstance(each, Starred) else each
            if len(items) == length:
                yield from unpack(inner, items[index])
            else:
                yield from unpack(inner, expression, (*path, (index, length)))


def factors_of(node: Expression) -> Iterator[Factor]:
    """The operands of a product, nested products flattened, or a lone integer."""
    if isinstance(node, Binary) and node.operator == "*":
        for operand in (node.left, node.right):
            nested = list(factors_of(operand))
            yield from nested or [Factor(operand.span, None)]
    elif isinstance(node, Constant) and type(node.value) is int:
        yield Factor(node.inner, node.value)
