"""NL503: several backward passes of a step add up means, and nothing divides them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanolint.rule import Context, Fact, Findings, FixAvailability, Once, Severity, rule, told
from nanolint_rules.training._lines import found_at, line_beside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.rule import Fix, Line

_LOSS = re.compile(r"\s*(\w+)\.backward\(\)|\s*\w+\.scale\((\w+)\)\.backward\(\)")


@rule(
    "NL503",
    "accumulated-loss-not-divided",
    Severity.WARNING,
    needs=[],
    once=Once.MESSAGE,
    fix=FixAvailability.SOMETIMES,
)
def accumulated_loss_not_divided(context: Context) -> Findings:
    """The backward passes of a step add up the means of their batches."""
    for each, lines in told(context, Fact.SUMMED):
        (passes,), (optimizer,) = each.numbers, each.words
        hides = "" if optimizer == "SGD" else f"; {optimizer} hides most of it, a clip does not"
        yield found_at(
            context,
            lines,
            f"{passes:,} backward passes of a step add up means: the gradient is {passes:,} times "
            f"that of their mean{hides}",
            does="goes back",
            remedy="divide the loss by the number of passes",
            fix=_fix(context, lines),
        )


def _fix(context: Context, lines: Sequence[Line]) -> Fix | None:
    """A division by the name of the loop's bound."""
    loss = _LOSS.match(lines[0].source) if lines else None
    bound = _bound(context.text, lines[0].number) if lines else None
    if loss is None or bound is None:
        return None
    name = loss[1] or loss[2]
    return line_beside(context, lines, f"{name} = {name} / {bound}", above=True)


def _bound(text: str, line: int) -> str | None:
    """The name in the innermost ``for ... in range(name)`` around a line."""
    loops = [
        each
        for each in ast.walk(ast.parse(text))
        if isinstance(each, ast.For) and each.lineno < line <= (each.end_lineno or 0)
    ]
    inner = max(loops, key=lambda each: each.lineno, default=None)
    called = inner.iter if inner is not None else None
    if not isinstance(called, ast.Call) or len(called.args) != 1:
        return None
    is_range = isinstance(called.func, ast.Name) and called.func.id == "range"
    is_named = isinstance(called.args[0], (ast.Name, ast.Attribute))
    return ast.unparse(called.args[0]) if is_range and is_named else None
