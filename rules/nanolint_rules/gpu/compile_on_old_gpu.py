"""NL202: torch.compile refuses the card."""

from __future__ import annotations

from nanolint.rule import (
    Context,
    Finding,
    Findings,
    FixAvailability,
    Need,
    Safety,
    Severity,
    abilities,
    rule,
)
from nanolint_rules._values import describe, is_key, set_value
from nanolint_rules.gpu._cards import capability, compiles, format_capability


@rule(
    "NL202",
    "compile-on-old-gpu",
    Severity.ERROR,
    needs=[Need.CONFIG, Need.GPU],
    fix=FixAvailability.SOMETIMES,
    stops=True,
)
def compile_on_old_gpu(context: Context) -> Findings:
    """compile is on, and the GPU is too old for torch.compile."""
    if not is_key(context, "compile"):
        return
    for case in context.cases:
        version = capability(case)
        if version is None or version >= abilities.TRITON or not compiles(case):
            continue
        needed = format_capability(abilities.TRITON)
        remedy = set_value(context, "compile", "False", safety=Safety.SAFE)
        written = describe(context, "compile", True)
        yield Finding(
            message=(
                f"{written} fails on {case.gpu_name}: Triton needs compute capability {needed}, "
                f"the card has {format_capability(version)}"
            ),
            remedy="set compile = False",
            span=context.span("compile", "dtype", "device"),
            fix=remedy.fix,
            gpu=case.gpu_name,
            notes=remedy.notes,
        )
