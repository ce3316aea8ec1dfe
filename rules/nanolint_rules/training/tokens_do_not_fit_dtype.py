"""NL511: tokens are kept in a type that has no number for some of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.rule import (
    Context,
    Fact,
    Finding,
    Findings,
    Once,
    Severity,
    Span,
    python_tree,
    rule,
    told,
)
from nanolint_rules.training._lines import found_at

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 1 << 16
# Words of tiktoken's encodings that are larger (tiktoken_ext/openai_public.py).
LARGE = {"cl100k_base": 100_277, "o200k_base": 200_019}


@rule("NL511", "tokens-do-not-fit-dtype", Severity.WARNING, needs=[], once=Once.MESSAGE)
def tokens_do_not_fit_dtype(context: Context) -> Findings:
    """Tokens are written to, or read from, a type that is too narrow for the vocabulary."""
    for each, lines in told(context, Fact.NARROW, of_parts=True):
        most, rows = each.numbers
        yield found_at(
            context,
            lines,
            f"{each.words[0]} holds {most:,} ids, and the table of the model has {rows:,} rows: "
            "ids above wrap silently when the file is written",
            does="reads them",
            remedy="write and read the file as uint32",
        )
    if ".get_encoding(" in context.text and "uint16" in context.text:
        yield from _written(context)


def _written(context: Context) -> Findings:
    """A script that only knows one encoding, a large one, and only writes uint16."""
    tree = python_tree(context.text)
    if "uint32" in context.text:
        return
    names = set(_encodings(tree))
    name = names.pop() if len(names) == 1 else None
    narrow = list(_narrow(tree))
    if name in LARGE and narrow and context.text.isascii():
        at = narrow[0]
        start = context.lines.offset(at.lineno, at.col_offset + 1)
        end = context.lines.offset(at.end_lineno or at.lineno, (at.end_col_offset or 0) + 1)
        yield Finding(
            message=(
                f"uint16 holds {MOST:,} ids, and {name} has {LARGE[name]:,}: ids above wrap "
                "silently"
            ),
            span=Span(start, end),
            remedy="use uint32 here and for reading the file",
        )


def _encodings(tree: ast.AST) -> Iterator[str | None]:
    """The names of the encodings that are asked for; None for one that is not written."""
    for each in ast.walk(tree):
        if not isinstance(each, ast.Call) or not isinstance(each.func, ast.Attribute):
            continue
        given = each.args[0] if each.args else None
        if each.func.attr == "get_encoding" and isinstance(given, ast.Constant):
            yield str(given.value)
        elif each.func.attr in ("get_encoding", "encoding_for_model"):
            yield None


def _narrow(tree: ast.AST) -> Iterator[ast.Attribute]:
    """Each ``np.uint16``."""
    for each in ast.walk(tree):
        if not isinstance(each, ast.Attribute) or each.attr != "uint16":
            continue
        if isinstance(each.value, ast.Name) and each.value.id in ("np", "numpy"):
            yield each
