"""NL301: a name that no script of the project reads."""

from __future__ import annotations

from difflib import get_close_matches

from nanolint.rule import (
    Assignment,
    Context,
    Edit,
    Finding,
    Findings,
    Fix,
    FixAvailability,
    Need,
    Safety,
    Severity,
    rule,
)
from nanolint_rules._values import knows_its_script

LIKENESS = 0.8


@rule(
    "NL301",
    "unknown-key",
    Severity.WARNING,
    needs=[Need.CONFIG, Need.TRAIN_SCRIPT],
    fix=FixAvailability.SOMETIMES,
)
def unknown_key(context: Context) -> Findings:
    """A name is set that no script of the project reads, so it has no effect."""
    if context.is_train_script or not knows_its_script(context):
        return  # what train.py itself sets is a key
    project, read = context.project, {each.name for each in context.module.reads}
    for assignment in context.module.assignments:
        key = assignment.key
        if key in read or key in project.known_keys or key in project.names_read:
            continue
        if key.startswith("_"):
            continue
        near = _meant(context, key)
        hint = f"; did you mean {near}?" if near else ""
        yield Finding(
            message=f"{key} is not a key of this project's train.py, so it has no effect{hint}",
            span=assignment.key_span,
            fix=_fix(assignment, near) if near and not context.assignment(near) else None,
        )


def _meant(context: Context, key: str) -> str | None:
    """The key that ``key`` is a slip of the pen for, the more likely of two first."""
    near = get_close_matches(key.lower(), sorted(context.project.known_keys), 1, LIKENESS)
    return near[0] if near else None


def _fix(assignment: Assignment, name: str) -> Fix | None:
    if assignment.shared:
        return None
    span = assignment.key_span
    return Fix(f"Rename it to {name}", Safety.UNSAFE, (Edit(span.start, span.end, name),))
