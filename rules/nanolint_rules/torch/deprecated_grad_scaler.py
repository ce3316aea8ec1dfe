"""NL401: the gradient scaler moved to torch.amp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import Context, Findings, Fix, FixAvailability, Safety, Severity, rule
from nanolint_rules.torch._amp import moved
from nanolint_rules.torch._moving import insert_argument, move, quoted

if TYPE_CHECKING:
    from nanolint_rules.torch._names import Names, Use

MODERN = "torch.amp.GradScaler"
EXISTS_SINCE = (2, 3)
DEVICES = {
    "torch.cuda.amp.GradScaler": "cuda",
    "torch.cuda.amp.grad_scaler.GradScaler": "cuda",
    "torch.cpu.amp.GradScaler": "cpu",
    "torch.cpu.amp.grad_scaler.GradScaler": "cpu",
}


@rule(
    "NL401",
    "deprecated-grad-scaler",
    Severity.WARNING,
    needs=[],
    fix=FixAvailability.SOMETIMES,
    markers=("GradScaler",),
)
def deprecated_grad_scaler(context: Context) -> Findings:
    """torch.cuda.amp.GradScaler is called, which PyTorch 2.4 deprecates."""
    version = context.options.oldest_torch
    if version is not None and version < EXISTS_SINCE:
        return
    notes = ("the new call needs PyTorch 2.3 or newer",) if version is None else ()
    yield from moved(context, DEVICES, MODERN, _fix, notes)


def _fix(context: Context, resolved: Names, group: list[Use]) -> Fix | None:
    edits = move(context, resolved, group, dict.fromkeys(DEVICES, MODERN))
    if edits is None:
        return None
    for use in group:
        edits.append(insert_argument(context, use.call, quoted(context, DEVICES[use.qualified])))
    return Fix(f"Call {MODERN}", Safety.SAFE, tuple(sorted(edits)))
