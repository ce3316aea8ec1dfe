"""NL501: a forward pass builds a graph that no backward pass uses."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanolint.rule import (
    Context,
    Edit,
    Fact,
    Findings,
    Fix,
    FixAvailability,
    Once,
    Safety,
    Severity,
    format_bytes,
    is_here,
    quoted,
    rule,
    told,
)
from nanolint_rules.training._lines import found_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.rule import Case, Line, Told

MUCH = 64 << 20  # bytes
PART = 20  # of the peak: a twentieth


@rule(
    "NL501",
    "eval-without-no-grad",
    Severity.WARNING,
    needs=[],
    once=Once.MESSAGE,
    fix=FixAvailability.SOMETIMES,
)
def eval_without_no_grad(context: Context) -> Findings:
    """An evaluation keeps its activations for a backward pass that never comes."""
    case = (context.leading or context).cases[0]
    for each, lines in told(context, Fact.UNUSED):
        nbytes, peak = case.left_by(each)
        if nbytes <= MUCH and nbytes * PART <= peak:
            continue
        own = _own(case, each, lines)
        yield found_at(
            context,
            own,
            f"builds a graph that no backward pass uses: it keeps {format_bytes(nbytes)} of "
            "activations until it is let go",
            does="evaluates",
            remedy="evaluate under @torch.no_grad()",
            fix=_fix(context, own, quoted(case, each.other)),
        )


def _own(case: Case, each: Told, lines: Sequence[Line]) -> Sequence[Line]:
    """The lines that only the evaluation has: what calls the model may be the training's, too."""
    shared = {(line.path, line.number) for line in quoted(case, each.other)}
    own = [line for line in lines if (line.path, line.number) not in shared]
    return own or lines


def _fix(context: Context, own: Sequence[Line], training: Sequence[Line]) -> Fix | None:
    """A decorator above the function of the evaluation, if no training goes through it."""
    line = own[0] if own else None
    if (
        line is None
        or not is_here(context, line)
        or not re.search(r"^import torch\b", context.text, re.MULTILINE)
    ):
        return None
    around = [
        each
        for each in ast.walk(ast.parse(context.text))
        if isinstance(each, ast.FunctionDef) and each.lineno < line.number <= (each.end_lineno or 0)
    ]
    function = max(around, key=lambda each: each.lineno, default=None)
    if function is None:
        return None
    inside = range(function.lineno, (function.end_lineno or 0) + 1)
    if any(each.number in inside and is_here(context, each) for each in training):
        return None
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    at = context.lines.offset(first, 1)
    text = f"{' ' * function.col_offset}@torch.no_grad()\n"
    return Fix("evaluate under @torch.no_grad()", Safety.UNSAFE, (Edit(at, at, text),))
