"""NL409: a name that keeps the largest activation of a run alive."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from nanolint.rule import (
    Context,
    Edit,
    Finding,
    Findings,
    Fix,
    FixAvailability,
    Once,
    Safety,
    Severity,
    allocates,
    config_runs,
    format_bytes,
    rule,
)
from nanolint_rules.torch._model_calls import unread_logits
from nanolint_rules.torch._moving import line_below
from nanolint_rules.torch._names import names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.rule import Run
    from nanolint_rules.torch._model_calls import ModelCall

MOST_SIZES = 12  # that are listed


@rule(
    "NL409",
    "retained-logits",
    Severity.WARNING,
    needs=[],
    fix=FixAvailability.ALWAYS,
    markers=("model(", "model.module("),
    once=Once.RULE,
)
def retained_logits(context: Context) -> Findings:
    """Logits that nothing reads stay alive until the next call of the model returns."""
    calls = list(unread_logits(context, names(context)))
    if not calls:
        return
    runs = _runs(context)
    for call in calls:
        sizes = _sizes(run for run in runs if call.in_evaluation or not run[1].eval_only)
        largest = f" ({sizes[0][0]} with {sizes[0][1][0]})" if sizes else ""
        name = call.logits.value
        yield Finding(
            message=f"{name} is never read but stays alive through {call.outlives}{largest}",
            remedy=f"del {name} after the call",
            span=context.spans([call.logits])[call.logits],
            fix=_fix(context, call),
            notes=tuple(f"{size}: {', '.join(configs)}" for size, configs in sizes[:MOST_SIZES]),
        )


def _runs(context: Context) -> list[tuple[str, Run]]:
    """The runs of this script by their configs, known for the project's train.py alone.

    None where that, as it is read, makes no tensor as large as its logits would be: what its model
    returns first is something else.
    """
    own, read = context.cases[0].settled.as_set, context.run
    if not context.is_train_script or own is None or read is None:
        return []
    if not allocates(read, own.logits_bytes):
        return []
    runs = [*config_runs(context.project, context.options), ("train.py's own values", own)]
    return [(config, run) for config, run in runs if run.program is None]


def _sizes(runs: Iterable[tuple[str, Run]]) -> list[tuple[str, list[str]]]:
    """How large the tensor is, the largest first, and for which configs."""
    sized = sorted((-run.logits_bytes, config) for config, run in runs)
    return [
        (format_bytes(-nbytes), [config for _, config in configs])
        for nbytes, configs in groupby(sized, key=lambda each: each[0])
    ]


def _fix(context: Context, call: ModelCall) -> Fix:
    deletion = f"del {call.logits.value}"
    edit = line_below(context, call.statement, deletion)
    if edit is None:  # it shares its line; its own span takes in a semicolon
        end = context.spans([call.statement.value])[call.statement.value].end
        edit = Edit(end, end, f"; {deletion}")
    return Fix("Delete the logits after the call", Safety.UNSAFE, (edit,))
