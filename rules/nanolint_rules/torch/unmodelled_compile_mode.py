"""NL412: a way of compiling whose memory the replay does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import Context, Finding, Findings, Need, Severity, rule
from nanolint_rules.torch._names import names

if TYPE_CHECKING:
    import libcst as cst
else:
    from nanolint_rules.torch import _cst as cst

UNKNOWN = object()
USUAL = {"mode": ("default", None), "backend": ("inductor", None), "options": (None,)}
GRAPHS = "CUDA graphs keep their memory in a separate pool"
TRIALS = "kernel trials take memory while it compiles"
WHY = {
    "reduce-overhead": GRAPHS,
    "max-autotune": f"{GRAPHS}, and {TRIALS}",
    "max-autotune-no-cudagraphs": TRIALS,
    "lite": "from PyTorch 2.10 on it neither fuses operations nor reuses buffers: more memory",
}


@rule(
    "NL412",
    "unmodelled-compile-mode",
    Severity.INFO,
    needs=[Need.TRAIN_SCRIPT],
    markers=("torch.compile", "from torch import", "import torch as"),
)
def unmodelled_compile_mode(context: Context) -> Findings:
    """train.py compiles in a mode that nanolint does not model."""
    if not context.is_train_script:
        return  # only train.py's memory is judged
    for use in names(context).uses({"torch.compile"}):
        for argument in use.call.args:
            parameter = argument.keyword.value if argument.keyword else ""
            value = _value(context, argument.value)
            if parameter not in USUAL or value in USUAL[parameter]:
                continue
            if value is UNKNOWN and parameter != "options":
                continue  # perhaps the usual one
            what = parameter if value is UNKNOWN else f"{parameter}={value!r}"
            yield Finding(
                message=(
                    f"nanolint does not model torch.compile with {what}; it counts the memory "
                    f"of the "
                    "default mode"
                ),
                span=context.spans([argument])[argument],
                notes=(WHY[value],) if isinstance(value, str) and value in WHY else (),
            )


def _value(context: Context, expression: cst.BaseExpression) -> object:
    """The value of a literal or a setting."""
    if isinstance(expression, cst.SimpleString):
        return expression.evaluated_value
    if isinstance(expression, cst.Name) and expression.value != "None":
        value = context.value(expression.value)
        return UNKNOWN if value is None else value
    return None if isinstance(expression, cst.Name) else UNKNOWN
