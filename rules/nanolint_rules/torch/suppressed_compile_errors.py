"""NL410: torch.compile told to keep its failures to itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import (
    Context,
    Edit,
    Finding,
    Findings,
    Fix,
    FixAvailability,
    Safety,
    Severity,
    rule,
)
from nanolint_rules.torch._moving import removed_line
from nanolint_rules.torch._names import names

if TYPE_CHECKING:
    import libcst as cst

    from nanolint_rules.torch._names import Names, Reference
else:
    from nanolint_rules.torch import _cst as cst

FLAG = "torch._dynamo.config.suppress_errors"


@rule(
    "NL410",
    "suppressed-compile-errors",
    Severity.WARNING,
    needs=[],
    fix=FixAvailability.ALWAYS,
    markers=("suppress_errors",),
)
def suppressed_compile_errors(context: Context) -> Findings:
    """torch.compile's errors are suppressed, so the model may silently run uncompiled."""
    resolved = names(context)
    for flag in resolved.references({FLAG}):
        assignment = _assignment_of_true(resolved, flag)
        if assignment is None:
            continue
        yield Finding(
            message=(
                "suppress_errors hides errors of torch.compile: the model then silently runs "
                "uncompiled, slower and with more memory"
            ),
            span=context.spans([assignment])[assignment],
            fix=_fix(context, resolved, assignment),
        )


def _assignment_of_true(resolved: Names, flag: Reference) -> cst.Assign | None:
    target, assignment, *_ = resolved.ancestors(flag.node)
    if not isinstance(target, cst.AssignTarget) or not isinstance(assignment, cst.Assign):
        return None
    value = assignment.value
    return assignment if isinstance(value, cst.Name) and value.value == "True" else None


def _fix(context: Context, resolved: Names, assignment: cst.Assign) -> Fix:
    """Take the line away; where it has to stay, it says False."""
    edit = None
    if len(assignment.targets) == 1:
        edit = removed_line(context, resolved, assignment)
    if edit is None:
        span = context.spans([assignment.value])[assignment.value]  # perhaps in parentheses
        start = context.text.rindex("True", span.start, span.end)
        edit = Edit(start, start + len("True"), "False")
    return Fix("Let torch.compile report its errors", Safety.UNSAFE, (edit,))
