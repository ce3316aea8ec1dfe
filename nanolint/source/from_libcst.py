"""From libcst's tree to the neutral one: any file that Python takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanolint.diagnostics import Span
from nanolint.source import syntax
from nanolint.source.assignments import Comment
from nanolint.source.bounds import MAX_SIZE, TOO_LARGE
from nanolint.source.python import literal
from nanolint.source.symbols import bound_name, dotted, symbol
from nanolint.source.syntax import Extent, joined
from nanolint.source.text import LineIndex
from nanolint.source.tree import parse_with_spans
from nanolint.source.uses import Flow, uses_of
from nanolint.source.values import TooComplex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from nanolint.source.syntax import Expression, Statement, Tree
    from nanolint.source.values import Plain


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


_CONSTANTS: dict[str, Plain] = {"None": None, "True": True, "False": False}
_LONGEST_NUMBER = 1300  # characters; more digits are past MAX_BITS


class Expressions:
    """Lowers the expressions of one file, whose nodes lie at ``positions``."""

    def __init__(self, positions: Mapping[cst.CSTNode, tuple[int, int]]) -> None:
        self._positions = positions

    def lower(self, node: cst.BaseExpression) -> Expression:
        """The neutral expression; one that is nested too deeply has no value."""
        try:
            return self._lower(node)
        except RecursionError:
            return syntax.Opaque(self._place(node), TOO_LARGE)

    def _lower(self, node: cst.BaseExpression) -> Expression:
        place = self._place(node)
        handler = _HANDLERS.get(type(node))
        if handler is None:
            noun = _NOUNS.get(type(node), "an expression")
            return syntax.Opaque(place, f"{noun} at run time", noun)
        try:
            return handler(self, node, place)
        except _NoValue as error:
            return syntax.Opaque(place, error.reason, error.noun)

    def _name(self, node: cst.Name, place: Extent) -> Expression:
        if node.value in _CONSTANTS:
            return syntax.Constant(place, _CONSTANTS[node.value])
        return syntax.Name(place, node.value)

    def _number(self, node: cst.Integer | cst.Float, place: Extent) -> Expression:
        if len(node.value) > _LONGEST_NUMBER:
            raise _NoValue(TOO_LARGE)
        return syntax.Constant(place, literal(node.value))

    def _string(
        self,
        node: cst.SimpleString | cst.ConcatenatedString | cst.FormattedString,
        place: Extent,
    ) -> Expression:
        parts = list(self._parts(node))
        if all(isinstance(part, str) for part in parts) and not _has_fields(node):
            text = "".join(map(str, parts))
            if len(text) > MAX_SIZE:
                raise _NoValue(TOO_LARGE)
            return syntax.Constant(place, text)
        return syntax.Text(place, tuple(parts))

    def _parts(self, node: cst.BaseExpression) -> Iterator[str | syntax.Field]:
        if isinstance(node, cst.ConcatenatedString):
            yield from self._parts(node.left)
            yield from self._parts(node.right)
        elif isinstance(node, cst.FormattedString):
            yield from map(self._part, node.parts)
        elif isinstance(node, cst.SimpleString):
            yield _literal(node)
        else:
            raise _NoValue("a template string at run time")

    def _part(self, part: cst.BaseFormattedStringContent) -> str | syntax.Field:
        if isinstance(part, cst.FormattedStringText):
            if "\\" in part.value:
                raise _NoValue("an escape in an f-string")
            text = part.value.replace("{{", "{").replace("}}", "}")
            return text.replace("\r\n", "\n").replace("\r", "\n")
        field = cst.ensure_type(part, cst.FormattedStringExpression)
        if field.equal is not None:
            raise _NoValue("an f-string that shows its own source")
        texts = [
            each.value
            for each in field.format_spec or ()
            if isinstance(each, cst.FormattedStringText)
        ]
        if len(texts) < len(field.format_spec or ()):
            raise _NoValue("a format within a format")
        return syntax.Field(self._lower(field.expression), field.conversion, "".join(texts))

    def _unary(self, node: cst.UnaryOperation, place: Extent) -> Expression:
        return syntax.Unary(place, symbol(node.operator), self._lower(node.expression))

    def _binary(self, node: cst.BinaryOperation, place: Extent) -> Expression:
        left, right = self._lower(node.left), self._lower(node.right)
        return syntax.Binary(place, symbol(node.operator), left, right)

    def _boolean(self, node: cst.BooleanOperation, place: Extent) -> Expression:
        operator = "or" if isinstance(node.operator, cst.Or) else "and"
        return syntax.Boolean(place, operator, self._lower(node.left), self._lower(node.right))

    def _comparison(self, node: cst.Comparison, place: Extent) -> Expression:
        others = (
            (symbol(each.operator), self._lower(each.comparator)) for each in node.comparisons
        )
        return syntax.Comparison(place, self._lower(node.left), tuple(others))

    def _choice(self, node: cst.IfExp, place: Extent) -> Expression:
        test, body, orelse = map(self._lower, (node.test, node.body, node.orelse))
        return syntax.Choice(place, test, body, orelse)

    def _sequence(self, node: cst.Tuple | cst.List, place: Extent) -> Expression:
        items = tuple(self._item(element) for element in node.elements)
        return syntax.Sequence(place, items, isinstance(node, cst.List))

    def _item(self, element: cst.BaseElement) -> Expression:
        value = self._lower(element.value)
        if isinstance(element, cst.StarredElement):
            return syntax.Starred(self._place(element), value)
        return value

    def _dictionary(self, node: cst.Dict, place: Extent) -> Expression:
        pairs = (
            (self._lower(element.key), self._lower(element.value))
            if isinstance(element, cst.DictElement)
            else None
            for element in node.elements
        )
        return syntax.Dictionary(place, tuple(pairs))

    def _index(self, node: cst.Subscript, place: Extent) -> Expression:
        container = self._lower(node.value)
        if len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
            raise _NoValue("a slice")
        return syntax.Index(place, container, self._lower(node.slice[0].slice.value))

    def _attribute(self, node: cst.Attribute, place: Extent) -> Expression:
        return syntax.Attribute(place, self._lower(node.value), node.attr.value)

    def _call(self, node: cst.Call, place: Extent) -> Expression:
        if any(argument.star for argument in node.args):
            raise _NoValue("a call with starred arguments", "the result of a call")
        plain = tuple(self._lower(each.value) for each in node.args if each.keyword is None)
        named = tuple(
            (each.keyword.value, self._lower(each.value))
            for each in node.args
            if each.keyword is not None
        )
        return syntax.Call(place, self._lower(node.func), plain, named)

    def inner(self, node: cst.CSTNode) -> Span:
        """The characters of ``node`` without its own parentheses."""
        start, end = self._positions[node]
        if isinstance(node, cst.BaseExpression) and node.lpar:
            start, end = self._positions[node.lpar[-1]][1], self._positions[node.rpar[0]][0]
        return Span(start, end)

    def _place(self, node: cst.CSTNode) -> Extent:
        return Extent(Span(*self._positions[node]), self.inner(node))


class _NoValue(Exception):
    """An expression that is not looked into: why, and a noun for it."""

    def __init__(self, reason: str, noun: str = "an expression") -> None:
        super().__init__(reason)
        self.reason = reason
        self.noun = noun


def _has_fields(node: cst.BaseExpression) -> bool:
    """Whether a string is an f-string, be it without fields."""
    if isinstance(node, cst.ConcatenatedString):
        return _has_fields(node.left) or _has_fields(node.right)
    return isinstance(node, cst.FormattedString)


def _literal(node: cst.SimpleString) -> str:
    if len(node.value) > MAX_SIZE:
        raise _NoValue(TOO_LARGE)
    if "b" in node.prefix.lower():
        raise _NoValue("a bytes literal")
    if "\\" not in node.value and "\r" not in node.value:
        return str(node.raw_value)
    try:
        return str(literal(node.value))
    except (SyntaxError, ValueError):
        raise _NoValue("a string that Python refuses") from None


_NOUNS: dict[type[cst.CSTNode], str] = {
    cst.Await: "await",
    cst.DictComp: "a comprehension",
    cst.Ellipsis: "an ellipsis",
    cst.GeneratorExp: "a generator",
    cst.Imaginary: "a complex number",
    cst.Lambda: "a lambda",
    cst.ListComp: "a comprehension",
    cst.NamedExpr: "an assignment expression",
    cst.Set: "a set",
    cst.SetComp: "a comprehension",
    cst.Yield: "yield",
}

_HANDLERS: dict[type[cst.CSTNode], Callable[..., Expression]] = {
    cst.Attribute: Expressions._attribute,
    cst.BinaryOperation: Expressions._binary,
    cst.BooleanOperation: Expressions._boolean,
    cst.Call: Expressions._call,
    cst.Comparison: Expressions._comparison,
    cst.ConcatenatedString: Expressions._string,
    cst.Dict: Expressions._dictionary,
    cst.Float: Expressions._number,
    cst.FormattedString: Expressions._string,
    cst.IfExp: Expressions._choice,
    cst.Integer: Expressions._number,
    cst.List: Expressions._sequence,
    cst.Name: Expressions._name,
    cst.SimpleString: Expressions._string,
    cst.Subscript: Expressions._index,
    cst.Tuple: Expressions._sequence,
    cst.UnaryOperation: Expressions._unary,
}
