"""NL417: a total batch that the script rounds down without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import (
    Context,
    Finding,
    Findings,
    FixAvailability,
    Safety,
    Severity,
    remainders,
    rule,
)
from nanolint_rules._given import place_of
from nanolint_rules.torch._step import equations, nearest

if TYPE_CHECKING:
    from nanolint.rule import Equation, Rounding


@rule(
    "NL417",
    "rounded-accumulation",
    Severity.WARNING,
    needs=[],
    fix=FixAvailability.SOMETIMES,
    markers=("backward(",),
    counts_processes=True,
)
def rounded_accumulation(context: Context) -> Findings:
    """The division for the accumulation steps leaves a remainder, which the script drops."""
    for equation in equations(context):
        roundings = equation.roundings()
        if not roundings or any(True for _ in equation.broken()):
            continue  # where it ends before the first step, NL415 says so
        rounding = roundings[0]
        if _is_asked_for(equation, rounding):
            continue
        remedy, fix = nearest(context, equation, Safety.UNSAFE)
        yield Finding(
            message=_message(equation, rounding),
            severity=None if _makes_a_pass(equation) else Severity.ERROR,
            remedy=remedy,
            span=place_of(context, equation, equation.loop),
            fix=fix,
            notes=(f"{rounding.dividend:,} // {rounding.divisor:,} drops {rounding.remainder:,}",),
        )
        return


def _is_asked_for(equation: Equation, rounding: Rounding) -> bool:
    """Whether the script asks for this remainder itself, and goes one way or another by it."""
    asked = (each for turn in equation.turns for each in remainders(turn.condition))
    pairs = (tuple(map(equation.number, each.operands)) for each in asked)
    return (rounding.dividend, rounding.divisor) in pairs


def _makes_a_pass(equation: Equation) -> bool:
    """Also where nothing is left of the total: ``max(1, total // tokens)``."""
    return equation.number(equation.passes) >= 1


def _message(equation: Equation, rounding: Rounding) -> str:
    if not _makes_a_pass(equation):
        return "the loop makes no pass: the micro-batch is larger than the total batch"
    tokens = equation.tokens_per_step()
    if rounding.dividend < rounding.divisor:
        wanted, rest = divmod(tokens * rounding.dividend, rounding.divisor)
        than = f"not {wanted:,}" if not rest else "more than the total asked for"
        return f"a step takes {tokens:,} tokens, {than}: one pass has more than the total"
    kept = rounding.dividend - rounding.remainder
    wanted, rest = divmod(tokens * rounding.dividend, kept)
    than = f"not {wanted:,}" if not rest else "less than the total asked for"
    return f"a step takes {tokens:,} tokens, {than}: the division drops the rest"
