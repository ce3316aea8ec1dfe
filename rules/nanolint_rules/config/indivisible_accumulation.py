"""NL304: the GPUs cannot share the accumulation steps evenly."""

from __future__ import annotations

from math import lcm

from nanolint.rule import (
    Context,
    Dialect,
    Finding,
    Findings,
    Fix,
    FixAvailability,
    Need,
    Safety,
    Severity,
    replace_integer,
    rule,
)
from nanolint_rules._values import Remedy, integer, set_value

KEY = "gradient_accumulation_steps"


@rule(
    "NL304",
    "indivisible-accumulation",
    Severity.ERROR,
    needs=[Need.CONFIG],
    fix=FixAvailability.SOMETIMES,
    counts_processes=True,
    stops=True,
)
def indivisible_accumulation(context: Context) -> Findings:
    """gradient_accumulation_steps is not a multiple of the number of GPUs."""
    if context.project.dialect is not Dialect.TOTAL:
        return  # every GPU accumulates that many
    steps = integer(context.value(KEY))
    if steps is None:
        return
    sizes = _world_sizes(context)
    size = next((size for size in sizes if steps % size), None)
    if size is None:
        return
    better = _nearest_multiple(steps, lcm(*sizes))
    remedy = _remedy(context, better, keep=size)
    yield Finding(
        message=(f"{KEY} = {steps} is not a multiple of the {size} GPUs (train.py asserts it)"),
        remedy=f"{KEY} = {better} divides evenly{_change_of_batch(context, steps, better)}",
        span=context.span(KEY, "batch_size"),
        fix=remedy.fix,
        notes=remedy.notes,
    )


def _world_sizes(context: Context) -> list[int]:
    """The numbers of processes that the file is judged for."""
    given = context.options.world_size
    counts = (case.target.count if case.target else None for case in context.cases)
    return [given] if given else [count or 1 for count in counts]


def _nearest_multiple(steps: int, size: int) -> int:
    """The multiple of ``size`` nearest to ``steps``, the larger of two, and never zero."""
    return max(1, (2 * steps + size) // (2 * size)) * size


def _change_of_batch(context: Context, steps: int, better: int) -> str:
    batch = integer(context.value("batch_size"))
    if batch is None:
        return ""
    return f", with effective batch {batch * better} instead of {batch * steps}"


def _remedy(context: Context, better: int, *, keep: int) -> Remedy:
    remedy = set_value(context, KEY, str(better), safety=Safety.UNSAFE)
    assignment = context.assignment(KEY)
    if remedy.fix is None or assignment is None:
        return remedy
    # In the shape it was written in.
    edit = replace_integer(assignment, better, context.module.comments, keep=keep)
    return Remedy(Fix(remedy.fix.title, remedy.fix.safety, (edit,)), remedy.notes)
