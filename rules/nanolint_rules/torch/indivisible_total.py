"""NL415: tokens per step that the micro-batch does not divide, which the script refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import (
    Context,
    Finding,
    Findings,
    FixAvailability,
    Given,
    Safety,
    Severity,
    as_written,
    remainders,
    rule,
)
from nanolint_rules._given import place_of
from nanolint_rules.torch._step import equations, nearest

if TYPE_CHECKING:
    from nanolint.rule import Equation, Scalar, Term


LONGEST = 90  # characters of a check that are shown


@rule(
    "NL415",
    "indivisible-total",
    Severity.ERROR,
    needs=[],
    fix=FixAvailability.SOMETIMES,
    markers=("backward(",),
    counts_processes=True,
    stops=True,
)
def indivisible_total(context: Context) -> Findings:
    """The total batch is not a multiple of a micro-batch over all processes: an assert fails."""
    for equation in equations(context):
        for check in equation.broken():
            division = next(remainders(check.condition), None)
            if division is None:
                continue
            total, part = (equation.number(each) for each in division.operands)
            remedy, fix = nearest(context, equation, Safety.SAFE)
            if fix is None and remedy.startswith("no "):
                remedy += _larger(equation, division.operands[0], total, part)
            yield Finding(
                message=(
                    f"{check.place} fails: {total:,} is not a multiple of {_terms(equation, part)}"
                ),
                remedy=remedy,
                span=place_of(context, equation, check.place),
                fix=fix,
                notes=(_asked(check.text),),
            )
            return


def _larger(equation: Equation, dividend: Term, total: int, part: int) -> str:
    """The smallest total that would do, where one is given."""
    if not isinstance(dividend, Given) or part <= total:
        return ""
    changes: dict[Given, Scalar] = {dividend: part}
    if any(True for _ in equation.broken(changes)):
        return ""
    return f"; {as_written(changes)} is the smallest total that works"


def _asked(text: str) -> str:
    """What the check demands, or says where it is not met; not all of a long message."""
    from textwrap import shorten  # where there is a check

    said = shorten(" ".join(text.split()), LONGEST, placeholder=" ...")
    return f"it ends with {said}" if text.startswith("raise") else f"it asks for {said}"


def _terms(equation: Equation, part: int) -> str:
    """The divisor with what it is made of: ``12,288 (DEVICE_BATCH_SIZE = 6)``."""
    factor = equation.factor
    given = [f"{factor.key} = {factor.value}"] if factor is not None else []
    given += [f"{equation.world} processes"] if equation.world > 1 else []
    return f"{part:,} ({', '.join(given)})" if given else f"{part:,}"
