"""NL411: the allocator's environment variable by a name that PyTorch does not read yet."""

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

if TYPE_CHECKING:
    from nanolint_rules.torch._environment import Access

OLD, NEW = "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"
# The strings of libc10_cuda.so. 2.9 already warns about the old name, but its CUDA allocator reads
# no other: pytorch issue 183387.
READ_SINCE = (2, 10)


@rule(
    "NL411",
    "renamed-allocator-variable",
    Severity.WARNING,
    needs=[],
    fix=FixAvailability.SOMETIMES,
    markers=(NEW,),
)
def renamed_allocator_variable(context: Context) -> Findings:
    """The allocator is set by a variable that the project's PyTorch does not read yet."""
    version = context.options.oldest_torch
    if version is None or version >= READ_SINCE:
        return
    found = accesses(context)
    if any(access.writes and access.variable == OLD for access in found):
        return  # both are set, for old and new releases
    touched = [access for access in found if access.variable == NEW]
    for access in touched:
        if access.writes:
            yield Finding(
                message=f"before PyTorch 2.10 {NEW} does nothing on CUDA; set {OLD}",
                span=access.span,
                fix=_fix(context, touched),
            )


def _fix(context: Context, touched: list[Access]) -> Fix | None:
    """Rename the variable wherever the file touches it, and in no other string."""
    if sum(context.text.count(f"{quote}{NEW}{quote}") for quote in "'\"") != len(touched):
        return None
    edits = []
    for access in touched:
        start = context.text.index(NEW, access.span.start)
        edits.append(Edit(start, start + len(NEW), OLD))
    return Fix(f"Call it {OLD}", Safety.UNSAFE, tuple(sorted(edits)))
