"""NL506: a dropout acts in a module that evaluates: its flag follows from no module's."""

from __future__ import annotations

import ast
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
    is_here,
    rule,
    told,
)
from nanolint_rules.training._lines import found_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.rule import Line

_SAID = {
    "attention": (
        "attention drops in evaluation as well: eval() does not reach dropout_p",
        "pass dropout_p only if self.training",
    ),
    "dropout": (
        "F.dropout drops in evaluation as well: its training is True unless it is told otherwise",
        "pass training=self.training",
    ),
}


@rule(
    "NL506",
    "dropout-in-eval",
    Severity.WARNING,
    needs=[],
    once=Once.MESSAGE,
    fix=FixAvailability.SOMETIMES,
)
def dropout_in_eval(context: Context) -> Findings:
    """A dropout acts in evaluation, too."""
    for each, lines in told(context, Fact.DROPS, of_parts=True):
        message, remedy = _SAID[each.words[0]]
        yield found_at(
            context, lines, message, does="drops", remedy=remedy, fix=_fix(context, lines)
        )


def _fix(context: Context, lines: Sequence[Line]) -> Fix | None:
    """The flag of the module, in a method that has ``self``."""
    if not (lines and is_here(context, lines[0])) or not context.text.isascii():
        return None
    tree, number = ast.parse(context.text), lines[0].number
    calls = [
        each
        for each in ast.walk(tree)
        if isinstance(each, ast.Call)
        and each.lineno == number
        and isinstance(each.func, ast.Attribute)
        and each.func.attr in ("dropout", "scaled_dot_product_attention")
        and any(isinstance(name, ast.Name) and name.id == "self" for name in ast.walk(tree))
    ]
    if len(calls) != 1:
        return None
    call = calls[0]
    given = {each.arg: each.value for each in call.keywords}
    if isinstance(call.func, ast.Attribute) and call.func.attr == "dropout":
        if "training" in given or len(call.args) > 2 or None in given:
            return None
        at = _offset(context, call.end_lineno, call.end_col_offset) - 1
        edit = Edit(at, at, ", training=self.training")
    else:
        value = given.get("dropout_p")
        if value is None:
            return None
        at = _offset(context, value.end_lineno, value.end_col_offset)
        edit = Edit(at, at, " if self.training else 0.0")
    return Fix("let it follow self.training", Safety.UNSAFE, (edit,))


def _offset(context: Context, line: int | None, column: int | None) -> int:
    return context.lines.offset(line or 1, (column or 0) + 1)
