"""From libcst's tree to the neutral one: any file that Python takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanolint.diagnostics import Span
from nanolint.source import syntax
from nanolint.source.assignments import Comment
from nanolint.source.from_libcst_expressions import Expressions
from nanolint.source.nodes import bound_name, dotted
from nanolint.source.refusals import TooComplex
from nanolint.source.symbols import symbol
from nanolint.source.syntax import joined
from nanolint.source.text import LineIndex
from nanolint.source.tree import parse_with_spans
from nanolint.source.uses import Flow, uses_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanolint.source.syntax import Statement, Tree


def lower(text: str) -> Tree:
    """The tree of ``text``. Raises Unparsable or TooComplex."""
    module, positions = parse_with_spans(text)
    lowering = _Lowering(text, positions)
    try:
        return syntax.Tree(tuple(lowering.statements(module.body)), tuple(lowering.comments()))
    except RecursionError:
        raise TooComplex("its code is nested too deeply") from None


class _Lowering:
    """The statements of one file, with the places of its nodes."""

    def __init__(self, text: str, positions: dict[cst.CSTNode, tuple[int, int]]) -> None:
        self._text = text
        self._positions = positions
        self._lines = LineIndex(text)
        self._expressions = Expressions(positions)

    def comments(self) -> Iterator[Comment]:
        """The comments, in order."""
        for node, (start, end) in self._positions.items():
            if isinstance(node, cst.Comment):
                row, column = self._lines.position(start)
                own_line = not self._lines.part(row, 0, column - 1).strip(" \t\f\ufeff")
                # The tree may have a form feed behind a comment where the text has a newline.
                comment = self._text[start:end].rstrip("\r\n")
                yield Comment(comment, Span(start, start + len(comment)), own_line)

    # Statements

    def statements(self, body: Sequence[cst.CSTNode]) -> Iterator[Statement]:
        """The statements of a file or a block."""
        for node in body:
            if isinstance(node, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
                start, end = self._positions[node.body[0]][0], self._positions[node.body[-1]][1]
                line = Span(start, start + len(self._text[start:end].rstrip(" \t\f\\\r\n")))
                for each in node.body:
                    yield self._simple(each, line)
            elif isinstance(node, cst.If):
                yield self._branch(node)
            elif isinstance(node, (cst.FunctionDef, cst.ClassDef)):
                yield syntax.Definition(self._row(node), self._uses(node), node.name.value)
            else:
                keyword = _KEYWORDS.get(type(node), "a block")
                yield syntax.Block(self._row(node), self._uses(node), keyword)

    def _simple(self, node: cst.CSTNode, line: Span) -> Statement:
        row, uses = self._row(node), self._uses(node)
        if isinstance(node, cst.Assign):
            targets = tuple(self._expressions.lower(each.target) for each in node.targets)
            return syntax.Assign(row, uses, targets, self._expressions.lower(node.value), line)
        if isinstance(node, cst.AnnAssign) and node.value is not None:
            target = self._expressions.lower(node.target)
            return syntax.Assign(row, uses, (target,), self._expressions.lower(node.value), line)
        if isinstance(node, cst.AugAssign):
            target, value = (
                self._expressions.lower(node.target),
                self._expressions.lower(node.value),
            )
            return syntax.Augment(row, uses, target, symbol(node.operator), value, line)
        if isinstance(node, cst.Import):
            return syntax.Import(row, uses, tuple(bound_name(each).value for each in node.names))
        if isinstance(node, cst.ImportFrom):
            module = "." * len(node.relative) + dotted(node.module)
            listed = () if isinstance(node.names, cst.ImportStar) else node.names
            names = tuple((dotted(each.name), bound_name(each).value) for each in listed)
            return syntax.ImportFrom(row, uses, module, names)
        if isinstance(node, cst.Del):
            return syntax.Delete(row, uses)
        return syntax.Statement(row, uses)

    def _branch(self, node: cst.If) -> syntax.Branch:
        test = uses_of(node.test, self._expressions.inner, Flow.ANYWHERE)
        body = tuple(self.statements(_suite(node.body)))
        orelse: tuple[Statement, ...] = ()
        if isinstance(node.orelse, cst.If):
            orelse = (self._branch(node.orelse),)
        elif node.orelse is not None:
            orelse = tuple(self.statements(_suite(node.orelse.body)))
        uses = joined([test, *(each.uses for each in (*body, *orelse))])
        expression = self._expressions.lower(node.test)
        return syntax.Branch(self._row(node), uses, expression, body, orelse, bool(test.walrus))

    def _uses(self, node: cst.CSTNode) -> syntax.Uses:
        return uses_of(node, self._expressions.inner)

    def _row(self, statement: cst.CSTNode) -> int:
        leading = getattr(statement, "leading_lines", ())
        start = self._positions[leading[-1]][1] if leading else self._positions[statement][0]
        return self._lines.position(start)[0]


def _suite(block: cst.BaseSuite) -> Sequence[cst.CSTNode]:
    return [block] if isinstance(block, cst.SimpleStatementSuite) else block.body


_KEYWORDS: dict[type[cst.CSTNode], str] = {
    cst.For: "`for`",
    cst.Match: "`match`",
    cst.Try: "`try`",
    cst.TryStar: "`try`",
    cst.While: "`while`",
    cst.With: "`with`",
}
