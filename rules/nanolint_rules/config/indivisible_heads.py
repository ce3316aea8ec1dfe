"""NL303: the width of the model cannot be split among its attention heads."""

from __future__ import annotations

from nanolint.rule import Context, Finding, Findings, Need, Related, Severity, rule
from nanolint_rules._values import integer, is_asked_for


@rule("NL303", "indivisible-heads", Severity.ERROR, needs=[Need.CONFIG], stops=True)
def indivisible_heads(context: Context) -> Findings:
    """n_embd is not a multiple of n_head."""
    width, heads = integer(context.value("n_embd")), integer(context.value("n_head"))
    if width is None or heads is None or width % heads == 0:
        return
    if context.value("init_from") == "resume":
        return  # the checkpoint's model counts, whatever the config says
    yield Finding(
        message=(
            f"n_embd = {width} is not a multiple of n_head = {heads}, which model.py asserts; "
            f"n_embd = {_widths(width, heads)} would do, or n_head = {_heads(width, heads)}"
        ),
        span=context.span("n_embd", "n_head"),
        related=_related(context),
        severity=Severity.WARNING if _in_doubt(context) else None,
    )


def _in_doubt(context: Context) -> bool:
    """Whether the model, or one of the two values where no script is near, is not known."""
    inherited = not all(is_asked_for(context, key) for key in ("n_embd", "n_head"))
    lone = context.project.train_script is None
    return context.may_be_another_trainers or (lone and inherited)


def _widths(width: int, heads: int) -> str:
    """The nearest multiples of ``heads``, smaller first."""
    below = width - width % heads
    return " or ".join(str(fitting) for fitting in (below, below + heads) if fitting)


def _heads(width: int, heads: int) -> int:
    """The number of heads nearest to ``heads`` that divides ``width``; the smaller of two."""
    return min(
        (count for count in range(1, min(width, 2 * heads) + 1) if width % count == 0),
        key=lambda count: (abs(count - heads), count),
    )


def _related(context: Context) -> tuple[Related, ...]:
    if not (context.assignment("n_embd") and context.assignment("n_head")):
        return ()
    return (Related(context.span("n_head"), "the number of heads"),)
