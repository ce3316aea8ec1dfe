"""From Python's own tree to the neutral one: plain files, as most configs are.

They hold ``key = expression`` a line, imports, docstrings and comments. Importing libcst takes
longer than all that nanolint does with such a file. Python's tree does not say where parentheses
and comments stand, so a text is taken only where none can hide: for any other there is no answer.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanolint.diagnostics import Span
from nanolint.source import syntax
from nanolint.source.assignments import EVERY, Comment, Read
from nanolint.source.operations import BUILTINS
from nanolint.source.python import new_tree
from nanolint.source.syntax import Extent

if TYPE_CHECKING:
    from nanolint.source.syntax import Expression, Statement, Tree

MOST_CHARACTERS = 1 << 16
MOST_LINES = 2_000
LONGEST = 400  # characters of a statement; what is longer may be past one of libcst's bounds
MOST_NODES = 200  # of one statement

_UNUSUAL = re.compile("[\r\f\0\ufeff]")
_EQUALS = re.compile(r"[ \t]*=[ \t]*")
_BEHIND = re.compile(r"[ \t]*(#.*)?")

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Not: "not",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
}
_CONSTANTS = (int, float, str, type(None))
# Reading one of these names hands out the globals or the modules, or runs text as code; calling one
# of the others makes a text of what it is given. uses.py knows what follows from that.
_SPECIAL = frozenset({"exec", "eval", "globals", "locals", "vars", "__builtins__", "sys"})
_FRAMES = frozenset({"f_globals", "f_locals", "__dict__"})
_TO_TEXT = frozenset({"str", "repr", "format", "print", "join"})


def lower(text: str) -> Tree | None:
    """The tree of a plain text; None for any other, and for one that Python refuses."""
    if len(text) > MOST_CHARACTERS or text.count("\n") > MOST_LINES or _UNUSUAL.search(text):
        return None
    try:
        return _Lowering(text).tree(new_tree(text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, _NotPlain):
        return None


class _NotPlain(Exception):
    """There is something in a text that only libcst's tree can place."""


class _Lowering:
    """One statement after the other, each with its place in the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._row = 0  # of the next line that no statement has taken
        self._comments: list[Comment] = []
        self._reads: list[Read] = []  # of the statement at hand
        self._changes = False

    def tree(self, body: list[ast.stmt]) -> Tree:
        """All statements; raises _NotPlain."""
        statements = [self._statement(each) for each in body]
        self._blank_lines(len(self._lines))
        return syntax.Tree(tuple(statements), tuple(self._comments))

    def _statement(self, node: ast.stmt) -> Statement:
        self._blank_lines(node.lineno - 1)
        start, end = self._place(node)
        written = self._text[start:end]
        long = len(written) > LONGEST and not _is_text(node)
        if node.col_offset or long or "\\\n" in written:
            raise _NotPlain
        self._reads, self._changes = [], False
        lowered = self._lowered(node, Span(start, end))
        self._row = (node.end_lineno or node.lineno) - 1
        self._comment(end - self._starts[self._row])
        self._row += 1
        return lowered

    def _lowered(self, node: ast.stmt, line: Span) -> Statement:
        if isinstance(node, ast.Assign):
            return self._assign(node, line)
        if isinstance(node, ast.Expr):
            if _is_text(node):
                return syntax.Statement(node.lineno, syntax.Uses())
        elif isinstance(node, ast.Import):
            names = tuple(each.asname or each.name.partition(".")[0] for each in node.names)
            self._check_ascii(line)
            if all(each.name != "__main__" for each in node.names):
                return syntax.Import(node.lineno, syntax.Uses(binds=frozenset(names)), names)
        elif isinstance(node, ast.ImportFrom):
            return self._import_from(node, line)
        raise _NotPlain

    def _assign(self, node: ast.Assign, line: Span) -> Statement:
        (target, *more) = node.targets
        if more or not isinstance(target, ast.Name):
            raise _NotPlain
        start, end = line.start, line.start + len(target.id)
        value_at = Span(*self._place(node.value))
        if self._text[start:end] != target.id or value_at.end != line.end:
            raise _NotPlain
        if not _EQUALS.fullmatch(self._text, end, value_at.start):
            raise _NotPlain
        written = self._text[value_at.start : value_at.end]
        nodes = [each for each, _ in zip(ast.walk(node.value), range(MOST_NODES + 1), strict=False)]
        if len(nodes) > MOST_NODES or ("\n" in written and "#" in written):
            raise _NotPlain
        # Each parenthesis has to be that of a call, or it is part of what it is around.
        literal = isinstance(node.value, ast.Constant)
        known = sum(isinstance(each, (ast.Call, ast.Tuple)) for each in nodes)
        listed = any(isinstance(each, ast.ListComp) for each in nodes)  # whose target is a tuple
        if not literal and written.count("(") != known - listed:
            raise _NotPlain
        value = self._expression(node.value)
        uses = syntax.Uses(
            reads=tuple(self._reads), binds=frozenset({target.id}), changes=self._changes
        )
        key = Span(start, end)
        targets = (syntax.Name(Extent(key, key), target.id),)
        return syntax.Assign(node.lineno, uses, targets, value, line)

    def _import_from(self, node: ast.ImportFrom, line: Span) -> Statement:
        module = "." * node.level + (node.module or "")
        self._check_ascii(line)
        if node.names[0].name == "*":
            return syntax.ImportFrom(node.lineno, syntax.Uses(dynamic=True), module, ())
        names = tuple((each.name, each.asname or each.name) for each in node.names)
        uses = syntax.Uses(binds=frozenset(bound for _, bound in names))
        return syntax.ImportFrom(node.lineno, uses, module, names)

    def _check_ascii(self, line: Span) -> None:
        """Raise _NotPlain for names that Python may have normalised."""
        if not self._text[line.start : line.end].isascii():
            raise _NotPlain

    # Lines

    def _blank_lines(self, until: int) -> None:
        """The lines in front of a statement, up to the row ``until``."""
        if until < self._row:  # two statements on one line
            raise _NotPlain
        while self._row < until:
            self._comment(0)
            self._row += 1

    def _comment(self, column: int) -> None:
        """What is behind ``column`` on the line at hand: a comment, or nothing."""
        line = self._lines[self._row]
        match = _BEHIND.fullmatch(line, column)
        if match is None:
            raise _NotPlain
        if match[1]:
            start = self._starts[self._row] + match.start(1)
            own_line = not line[: match.start(1)].strip(" \t")
            self._comments.append(Comment(match[1], Span(start, start + len(match[1])), own_line))

    # Expressions

    def _expression(self, node: ast.expr) -> Expression:
        span = Span(*self._place(node))
        place = Extent(span, span)
        if isinstance(node, ast.Constant):
            value = node.value
            if not isinstance(value, _CONSTANTS):
                raise _NotPlain
            return syntax.Constant(place, value)
        if isinstance(node, ast.Name):
            if node.id in _SPECIAL or self._text[span.start : span.end] != node.id:
                raise _NotPlain
            self._reads.append(Read(node.id, span, in_text=False))
            return syntax.Name(place, node.id)
        if isinstance(node, ast.UnaryOp):
            return syntax.Unary(place, _operator(node.op), self._expression(node.operand))
        if isinstance(node, ast.BinOp):
            left = self._expression(node.left)
            if isinstance(node.op, ast.Mod) and isinstance(left, syntax.Constant):
                raise _NotPlain  # the names may go into a text
            return syntax.Binary(place, _operator(node.op), left, self._expression(node.right))
        if isinstance(node, ast.BoolOp):
            return self._boolean(node)
        if isinstance(node, ast.Compare):
            first = self._expression(node.left)
            pairs = zip(node.ops, node.comparators, strict=True)
            others = tuple((_operator(each), self._expression(right)) for each, right in pairs)
            return syntax.Comparison(place, first, others)
        if isinstance(node, ast.IfExp):
            test, body = self._expression(node.test), self._expression(node.body)
            return syntax.Choice(place, test, body, self._expression(node.orelse))
        if isinstance(node, ast.Attribute):
            if node.attr in _FRAMES:
                raise _NotPlain
            return syntax.Attribute(place, self._expression(node.value), node.attr)
        if isinstance(node, ast.Call):
            return self._call(node, span)
        if isinstance(node, ast.Tuple):
            return self._tuple(node, span)
        if isinstance(node, ast.ListComp):
            return self._comprehension(node, place)
        raise _NotPlain

    def _boolean(self, node: ast.BoolOp) -> Expression:
        operator = "or" if isinstance(node.op, ast.Or) else "and"
        (left, *others) = map(self._expression, node.values)
        for right in others:
            span = Span(left.span.start, right.span.end)
            left = syntax.Boolean(Extent(span, span), operator, left, right)
        return left

    def _call(self, node: ast.Call, span: Span) -> Expression:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        attribute = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in _TO_TEXT or attribute in _TO_TEXT:
            raise _NotPlain
        self._changes |= name not in BUILTINS
        function = self._expression(node.func)
        arguments = [each for each in node.args if not isinstance(each, ast.Starred)]
        if len(arguments) < len(node.args):
            raise _NotPlain
        plain = tuple(map(self._expression, arguments))
        named = tuple(self._named(each) for each in node.keywords)
        if node.keywords and node.args and node.keywords[0].lineno != node.lineno:
            raise _NotPlain
        return syntax.Call(Extent(span, span), function, plain, named)

    def _tuple(self, node: ast.Tuple, span: Span) -> Expression:
        """With parentheses, and white space between the items only."""
        items = tuple(map(self._expression, node.elts))
        inner = Span(span.start + 1, span.end - 1)
        if not items or (items[0].span.start, items[-1].span.end) != (inner.start, inner.end):
            raise _NotPlain
        return syntax.Sequence(Extent(span, inner), items, is_list=False)

    def _comprehension(self, node: ast.ListComp, place: Extent) -> Expression:
        """``[k for k, v in globals().items() if ...]``, as train.py lists its keys."""
        (loop, *more) = node.generators
        if more or loop.is_async:
            raise _NotPlain
        self._expression(node.elt)
        if ast.unparse(loop.iter) == "globals().items()":
            self._changes = True
            start = self._place(loop.iter)[0]
            self._reads.append(Read(EVERY, Span(start, start + len("globals")), in_text=False))
        else:
            self._expression(loop.iter)
        for test in loop.ifs:
            self._expression(test)
        return syntax.Opaque(place, "a comprehension at run time", "a comprehension")

    def _named(self, keyword: ast.keyword) -> tuple[str, Expression]:
        if keyword.arg is None or not keyword.arg.isascii():
            raise _NotPlain
        return keyword.arg, self._expression(keyword.value)

    def _place(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """The first character of ``node`` and the one behind it."""
        return (
            self._offset(node.lineno, node.col_offset),
            self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0),
        )

    def _offset(self, row: int, column: int) -> int:
        """The character at a number of bytes of UTF-8 on a line."""
        line = self._lines[row - 1]
        if not line.isascii():
            column = len(line.encode()[:column].decode())
        return self._starts[row - 1] + column


def _is_text(node: ast.stmt) -> bool:
    """Whether it is a docstring, which no bound of libcst's is about: nanoGPT's has 900."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _operator(node: ast.AST) -> str:
    operator = OPERATORS.get(type(node))
    if operator is None:
        raise _NotPlain
    return operator
