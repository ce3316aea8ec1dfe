"""NL406: a checkpoint that may run code while it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import (
    Context,
    Edit,
    Finding,
    Fix,
    FixAvailability,
    Safety,
    Severity,
    rule,
)
from nanolint_rules.torch._names import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint_rules.torch._names import Use

CHECKED_SINCE = (2, 6)  # weights_only became the default
EXISTS_SINCE = (1, 13)
ARGUMENT = "weights_only"


@rule(
    "NL406",
    "unchecked-checkpoint-load",
    Severity.WARNING,
    needs=[],
    fix=FixAvailability.SOMETIMES,
    markers=("load",),
)
def unchecked_checkpoint_load(context: Context) -> Iterator[Finding]:
    """torch.load is called without weights_only, on a PyTorch that then unpickles anything."""
    version = context.options.torch_version
    if version is None or not EXISTS_SINCE <= version < CHECKED_SINCE:
        return
    for use in names(context.tree).uses({"torch.load"}):
        given = {argument.keyword.value for argument in use.call.args if argument.keyword}
        if ARGUMENT in given or any(argument.star == "**" for argument in use.call.args):
            continue
        yield Finding(
            message=(
                f"before PyTorch 2.6 torch.load runs code that a checkpoint brings along; pass "
                f"{ARGUMENT}=True, as newer releases do by themselves"
            ),
            span=context.spans([use.call.func])[use.call.func],
            fix=_fix(context, use),
        )


def _fix(context: Context, use: Use) -> Fix | None:
    """Add the argument behind the last, on a line of its own where that has one."""
    if not use.call.args:
        return None
    last = use.call.args[-1]
    spans = context.spans([last, last.value])
    start, end = spans[last].start, spans[last.value].end
    line = context.text[:start].rpartition("\n")[2]
    newline = "\r\n" if context.text[:start].endswith(f"\r\n{line}") else "\n"
    alone = not line.strip() and "\n" in context.text[:start]
    gap = f"{newline}{line}" if alone else " "
    edit = Edit(end, end, f",{gap}{ARGUMENT}=True")
    return Fix(f"Pass {ARGUMENT}=True", Safety.UNSAFE, (edit,))
