"""NL205: torch.compile on an Apple GPU."""

from __future__ import annotations

from nanolint.rule import Context, Finding, Findings, FixAvailability, Need, Safety, Severity, rule
from nanolint_rules._values import describe, is_key, set_value


@rule(
    "NL205",
    "compile-on-mps",
    Severity.WARNING,
    needs=[Need.CONFIG],
    fix=FixAvailability.SOMETIMES,
)
def compile_on_mps(context: Context) -> Findings:
    """compile is on, and the device is an Apple GPU."""
    if not is_key(context, "compile"):
        return
    device, compiles = context.value("device"), context.value("compile")
    if not str(device).startswith("mps") or not compiles:
        return
    remedy = set_value(context, "compile", "False", safety=Safety.UNSAFE)
    yield Finding(
        message=(
            f"{describe(context, 'compile', compiles)} on device = {device!r}: torch.compile's "
            "generator for Metal is a prototype, and absent before PyTorch 2.7"
        ),
        remedy="set compile = False",
        span=context.span("compile", "device"),
        fix=remedy.fix,
        notes=remedy.notes,
    )
