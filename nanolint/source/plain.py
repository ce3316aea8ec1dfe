"""Plain files, read without libcst: most configs, and the settings at the top of most scripts.

They hold ``key = expression`` a line, imports, docstrings and comments. Importing libcst takes
longer than all that nanolint does with such a file. What is read is the same to the character, as
a test tries on many texts; for a file with anything else in it there is no answer here.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING

from nanolint.diagnostics import Span
from nanolint.source.assignments import Assignment, Comment, Factor, Module, Read
from nanolint.source.bounds import Unevaluable
from nanolint.source.plain_values import NotPlain, check, evaluate, names_in
from nanolint.source.scope import Scope
from nanolint.source.values import Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nanolint.source.values import Value

MOST_CHARACTERS = 1 << 16
MOST_LINES = 2_000
LONGEST_LINE = 400  # of a statement; what is longer may be past one of libcst's bounds

_UNUSUAL = re.compile("[\r\f\0\ufeff]")
_EQUALS = re.compile(r"[ \t]*=[ \t]*")
_BEHIND = re.compile(r"[ \t]*(#.*)?")


def read_plain(
    text: str,
    environment: Mapping[str, Value],
    star_import: Callable[[str], Mapping[str, Value] | None] | None,
) -> Module | None:
    """As ``parse``, for a plain text; None for any other."""
    body = _statements(text)
    if body is None:
        return None
    try:
        return _Reader(text, environment, star_import).read(body)
    except (NotPlain, RecursionError):
        return None


def read_plain_settings(
    text: str, star_import: Callable[[str], Mapping[str, Value] | None] | None
) -> Module | None:
    """As ``read_plain``, of expressions of more kinds, but without places in the text.

    Only ``final`` and ``imported`` are filled in.
    """
    body = _statements(text)
    if body is None:
        return None
    names = _Names({}, star_import)
    try:
        for statement in body:
            if isinstance(statement, ast.Assign):
                target, value = _parts(statement)
                names.set(target.id, names.value(value, calls=True))
            else:
                names.take_in(statement)
    except (NotPlain, RecursionError):
        return None
    return names.module()


def _statements(text: str) -> list[ast.stmt] | None:
    """The statements of a text of ordinary size that Python takes."""
    if len(text) > MOST_CHARACTERS or text.count("\n") > MOST_LINES or _UNUSUAL.search(text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _parts(statement: ast.Assign) -> tuple[ast.Name, ast.expr]:
    (target, *more) = statement.targets
    if more or not isinstance(target, ast.Name):
        raise NotPlain
    return target, statement.value


class _Names:
    """What the names hold, statement by statement; see follow.Follower, which knows all kinds."""

    def __init__(
        self,
        environment: Mapping[str, Value],
        star_import: Callable[[str], Mapping[str, Value] | None] | None,
    ) -> None:
        self._names = dict(environment)
        self._scope = Scope(self._names)
        self._star_import = star_import
        self._written: dict[str, None] = {}
        self._imported: list[tuple[str, Value]] = []

    def value(self, expression: ast.expr, *, calls: bool = False) -> Value:
        """What ``expression`` is worth; raises NotPlain."""
        check(expression, self._scope, calls=calls)
        try:
            return Known(evaluate(expression, self._scope))
        except Unevaluable as error:
            return Unknown(error.reason, error.candidates)

    def set(self, name: str, value: Value) -> None:
        """Give ``name`` a value."""
        self._written[name] = None
        self._names[name] = value

    def take_in(self, statement: ast.stmt) -> None:
        """A statement that sets no key; raises NotPlain."""
        if isinstance(statement, ast.Expr):
            if not isinstance(statement.value, ast.Constant):
                raise NotPlain
            if not isinstance(statement.value.value, str):
                raise NotPlain
        elif isinstance(statement, ast.Import):
            for alias in statement.names:
                if alias.name == "__main__":
                    raise NotPlain
                name = alias.asname or alias.name.partition(".")[0]
                self.set(name, Unknown("an imported module"))
        elif isinstance(statement, ast.ImportFrom):
            self._import_from(statement)
        else:
            raise NotPlain

    def _import_from(self, statement: ast.ImportFrom) -> None:
        module = "." * statement.level + (statement.module or "")
        if module == "__future__":
            return
        star = statement.names[0].name == "*"
        worth = star or any(alias.name.islower() for alias in statement.names)
        found = self._star_import(module) if self._star_import and worth else None
        if star:
            if found is None:
                self._cloud(f"line {statement.lineno} imports all of {module}, which was not found")
                return
            self._imported += found.items()
            for name, value in found.items():
                self.set(name, value)
            return
        for alias in statement.names:
            name = alias.asname or alias.name
            value = (found or {}).get(alias.name, Unknown(f"imported from {module}"))
            self._imported.append((name, value))
            self.set(name, value)

    def _cloud(self, reason: str) -> None:
        """Any name may be set now."""
        self._scope.clouded = reason
        for name in self._names:
            self._names[name] = Unknown(reason)

    def module(
        self,
        assignments: tuple[Assignment, ...] = (),
        reads: tuple[Read, ...] = (),
        comments: tuple[Comment, ...] = (),
    ) -> Module:
        """All that was read."""
        final = {name: self._names[name] for name in self._written}
        clouded = self._scope.clouded
        dynamic = () if clouded is None else (("*", clouded),)
        return Module(assignments, reads, comments, dynamic, tuple(self._imported), final)


class _Reader:
    """One statement a line, each with its place in the text."""

    def __init__(
        self,
        text: str,
        environment: Mapping[str, Value],
        star_import: Callable[[str], Mapping[str, Value] | None] | None,
    ) -> None:
        self._names = _Names(environment, star_import)
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._row = 0  # of the next line that no statement has taken
        self._assignments: list[Assignment] = []
        self._reads: list[Read] = []
        self._comments: list[Comment] = []

    def read(self, body: list[ast.stmt]) -> Module:
        """Read all statements; raises NotPlain."""
        for statement in body:
            self._blank_lines(statement.lineno - 1)
            if isinstance(statement, ast.Assign):
                self._assign(statement)
            else:
                self._names.take_in(statement)
            self._end(statement)
        self._blank_lines(len(self._lines))
        return self._names.module(
            tuple(self._assignments), tuple(self._reads), tuple(self._comments)
        )

    def _blank_lines(self, until: int) -> None:
        """The lines in front of a statement, up to the row ``until``."""
        if until < self._row:  # two statements on one line
            raise NotPlain
        while self._row < until:
            self._comment(0)
            self._row += 1

    def _comment(self, column: int) -> None:
        """What is behind ``column`` on the line at hand: a comment, or nothing."""
        line = self._lines[self._row]
        match = _BEHIND.fullmatch(line, column)
        if match is None:
            raise NotPlain
        if match[1]:
            start = self._starts[self._row] + match.start(1)
            own_line = not line[: match.start(1)].strip(" \t")
            self._comments.append(Comment(match[1], Span(start, start + len(match[1])), own_line))

    def _end(self, statement: ast.stmt) -> None:
        self._row = (statement.end_lineno or 0) - 1
        self._comment(self._column(statement.end_col_offset or 0))
        self._row += 1

    def _assign(self, statement: ast.Assign) -> None:
        target, value = _parts(statement)
        line = self._lines[self._row]
        if statement.end_lineno != statement.lineno or len(line) > LONGEST_LINE:
            raise NotPlain
        start, end = self._span(value)
        base = self._starts[self._row]
        written = line[start - base : end - base]
        if not _EQUALS.fullmatch(line, len(target.id), start - base):
            raise NotPlain
        if "(" in written and not isinstance(value, ast.Constant):
            raise NotPlain  # parentheses count as part of what they are around
        known = self._names.value(value)
        reads = [Read(each.id, Span(*self._span(each)), False) for each in names_in(value)]
        self._reads += reads
        self._assignments.append(
            Assignment(
                key=target.id,
                value=known,
                statement=Span(base, end),
                key_span=Span(base, base + len(target.id)),
                value_span=Span(start, end),
                expression=written,
                factors=tuple(self._factors(value)),
                reads=frozenset(read.name for read in reads),
            )
        )
        self._names.set(target.id, known)

    def _factors(self, expression: ast.expr) -> Iterator[Factor]:
        """The operands of a product, nested products flattened, or a lone integer."""
        if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Mult):
            for operand in (expression.left, expression.right):
                nested = list(self._factors(operand))
                yield from nested or [Factor(Span(*self._span(operand)), None)]
        elif isinstance(expression, ast.Constant) and type(expression.value) is int:
            yield Factor(Span(*self._span(expression)), expression.value)

    def _span(self, expression: ast.expr) -> tuple[int, int]:
        base = self._starts[self._row]
        return (
            base + self._column(expression.col_offset),
            base + self._column(expression.end_col_offset or 0),
        )

    def _column(self, offset: int) -> int:
        """Characters, for a number of bytes of UTF-8, on the line at hand."""
        line = self._lines[self._row]
        return offset if line.isascii() else len(line.encode()[:offset].decode())
