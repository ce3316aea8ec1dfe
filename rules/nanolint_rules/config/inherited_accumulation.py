"""NL312: the effective batch rests on a value that the file does not show."""

from __future__ import annotations

from nanolint.rule import Context, Finding, Findings, Need, Severity, rule
from nanolint_rules._values import is_asked_for

KEY = "gradient_accumulation_steps"


@rule("NL312", "inherited-accumulation", Severity.INFO, needs=[Need.CONFIG, Need.RUN])
def inherited_accumulation(context: Context) -> Findings:
    """batch_size is set without gradient_accumulation_steps, so the value of train.py applies."""
    run = context.run
    if run is None or run.eval_only or context.is_train_script:
        return
    if context.assignment("batch_size") is None or is_asked_for(context, KEY):
        return
    steps = run.gradient_accumulation_steps
    if steps * run.sizes.simulated_gpus == 1:
        return
    times = f", times {run.sizes.simulated_gpus} on one GPU" if run.sizes.simulated_gpus > 1 else ""
    tokens = f", {run.tokens_per_iter:,} tokens" if run.block_size else ""
    whose = "nanoGPT's" if context.project.train_script is None else "train.py's"
    yield Finding(
        message=(
            f"{KEY} is not set, so {whose} {steps} applies{times}: with "
            f"batch_size = {run.batch_size} a step takes {run.effective_batch_size:,} sequences"
            f"{tokens}"
        ),
        span=context.span("batch_size"),
    )
