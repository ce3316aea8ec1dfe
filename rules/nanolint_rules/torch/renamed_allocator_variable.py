"""NL411: the allocator's environment variable by a name of another time."""

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
from nanolint_rules.torch._environment import accesses
from nanolint_rules.torch._names import names

if TYPE_CHECKING:
    from nanolint_rules.torch._environment import Access

OLD, NEW = "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"
# 2.9 already warns about the old name, but its CUDA allocator reads no other: pytorch issue 183387.
READ_SINCE = (2, 10)


@rule(
    "NL411",
    "renamed-allocator-variable",
    Severity.INFO,
    needs=[],
    fix=FixAvailability.SOMETIMES,
    markers=(OLD, NEW),
)
def renamed_allocator_variable(context: Context) -> Findings:
    """The allocator is set up by a variable that PyTorch renamed, or does not read yet."""
    version = context.options.torch_version
    too_new = version is not None and version < READ_SINCE
    here, there = (NEW, OLD) if too_new else (OLD, NEW)
    found = list(accesses(names(context.tree)))
    if any(access.writes and access.variable == there for access in found):
        return  # both are set, for old and new releases
    touched = [access for access in found if access.variable == here]
    spans = context.spans([access.name for access in touched])
    for access in touched:
        if access.writes:
            yield Finding(
                message=(
                    f"before PyTorch 2.10 {NEW} does nothing on CUDA; set {OLD}"
                    if too_new
                    else f"{OLD} is the old name of {NEW}, kept for backward compatibility only"
                ),
                span=spans[access.name],
                severity=Severity.WARNING if too_new else None,
                fix=_fix(context, touched, here, there),
                notes=() if too_new else ("the new name needs PyTorch 2.10 or newer",),
            )


def _fix(context: Context, touched: list[Access], here: str, there: str) -> Fix | None:
    """Rename the variable wherever the file touches it, and in no other string."""
    if sum(context.text.count(f"{quote}{here}{quote}") for quote in "'\"") != len(touched):
        return None
    edits = []
    for span in context.spans([access.name for access in touched]).values():
        start = context.text.index(here, span.start)
        edits.append(Edit(start, start + len(here), there))
    known_to_be_read = context.options.torch_version is not None and there == NEW
    safety = Safety.SAFE if known_to_be_read else Safety.UNSAFE
    return Fix(f"Call it {there}", safety, tuple(sorted(edits)))
