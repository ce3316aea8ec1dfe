"""NL306: the checkpoint decides the shape of the model."""

from __future__ import annotations

from nanolint.rule import (
    PRETRAINED_SIZES,
    Assignment,
    Context,
    Finding,
    Findings,
    Known,
    Need,
    Severity,
    Span,
    rule,
)

KEYS = ("n_layer", "n_head", "n_embd", "bias")


@rule("NL306", "ignored-model-key", Severity.WARNING, needs=[Need.CONFIG])
def ignored_model_key(context: Context) -> Findings:
    """The shape of the model is set, but the run starts from a checkpoint, which overrides it."""
    start = context.value("init_from")
    if context.is_train_script or context.from_command_line("init_from"):
        return
    if not isinstance(start, str) or start not in ("resume", *PRETRAINED_SIZES):
        return
    for key in KEYS:
        assignment = context.assignment(key)
        if assignment is not None and not _is_harmless(context, assignment):
            yield _finding(context, assignment, start)


def _is_harmless(context: Context, assignment: Assignment) -> bool:
    """Whether the file says what the checkpoint has anyway."""
    if context.value("init_from") == "resume":
        return False
    return assignment.value == Known(context.value(assignment.key))


def _finding(context: Context, assignment: Assignment, start: str) -> Finding:
    own = f"sets {assignment.key}"
    if start != "resume":
        own += f" = {context.value(assignment.key)!r}"
    text = " ".join(assignment.expression.split())
    return Finding(
        message=(f"{assignment.key} = {text} has no effect: init_from = {start!r} {own}"),
        span=Span(assignment.key_span.start, assignment.value_span.end),
        severity=Severity.INFO if start == "resume" else None,
    )
