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
from nanolint_rules._values import is_key, said, set_value
from nanolint_rules.gpu._cards import capability, compiles, shown


@rule(
    "NL202",
    "compile-on-old-gpu",
    Severity.ERROR,
    needs=[Need.CONFIG, Need.GPU],
    fix=FixAvailability.SOMETIMES,
)
def compile_on_old_gpu(context: Context) -> Findings:
    """compile is on, and the GPU is too old for torch.compile."""
    if not is_key(context, "compile"):
        return
    for case in context.cases:
        version = capability(case)
        if version is None or version >= abilities.TRITON or not compiles(case):
            continue
        needed = shown(abilities.TRITON)
        remedy = set_value(context, "compile", "False", safety=Safety.SAFE)
        yield Finding(
            message=(
                f"{said(context, 'compile', True)} fails on {case.gpu_name}: Triton needs compute "
                f"capability {needed}, the card has {shown(version)}; set compile = False"
            ),
            span=context.span("compile", "dtype", "device"),
            fix=remedy.fix,
            gpu=case.gpu_name,
            notes=remedy.notes,
        )
