"""NL402: autocast moved to torch.amp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import (
    Context,
    Edit,
    Findings,
    Fix,
    FixAvailability,
    Safety,
    Severity,
    rule,
)
from nanolint_rules.torch._amp import moved
from nanolint_rules.torch._moving import insert_argument, move, quoted

if TYPE_CHECKING:
    import libcst as cst

    from nanolint_rules.torch._names import Names, Use

MODERN = "torch.amp.autocast"
DEPRECATED_SINCE = (2, 4)
DEVICES = {
    "torch.cuda.amp.autocast": "cuda",
    "torch.cuda.amp.autocast_mode.autocast": "cuda",
    "torch.cpu.amp.autocast": "cpu",
    "torch.cpu.amp.autocast_mode.autocast": "cpu",
}
PARAMETERS = ("enabled", "dtype", "cache_enabled")  # in the old order; the new one is another


@rule(
    "NL402",
    "deprecated-cuda-autocast",
    Severity.WARNING,
    needs=[],
    fix=FixAvailability.SOMETIMES,
    markers=("autocast",),
)
def deprecated_cuda_autocast(context: Context) -> Findings:
    """torch.cuda.amp.autocast is called, which PyTorch 2.4 deprecates."""
    version = context.options.oldest_torch
    if version is not None and version < DEPRECATED_SINCE:
        return
    yield from moved(context, DEVICES, MODERN, _fix)


def _fix(context: Context, resolved: Names, group: list[Use]) -> Fix | None:
    edits = move(context, resolved, group, dict.fromkeys(DEVICES, MODERN))
    if edits is None or any(argument.star == "*" for use in group for argument in use.call.args):
        return None
    for use in group:
        device = quoted(context, DEVICES[use.qualified])
        first, *others = _keywords(use.call) or [""]
        edits.append(insert_argument(context, use.call, device, before=first))
        spans = context.spans(use.call.args)
        for argument, keyword in zip(use.call.args[1:], others, strict=True):
            start = spans[argument].start
            if keyword:
                edits.append(Edit(start, start, keyword))
    return Fix(f"Call {MODERN}", Safety.SAFE, tuple(sorted(edits)))


def _keywords(call: cst.Call) -> list[str]:
    """What to write before each argument: its name, where the old order gave it one."""
    positional = [not argument.keyword and not argument.star for argument in call.args]
    return [
        f"{PARAMETERS[index]}=" if unnamed and index < len(PARAMETERS) else ""
        for index, unnamed in enumerate(positional)
    ]
