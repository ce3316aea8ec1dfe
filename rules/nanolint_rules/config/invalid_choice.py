"""NL314: a value that is none of the few that work."""

from __future__ import annotations

import re
from difflib import get_close_matches

from nanolint.rule import KEYS, Context, Finding, Findings, Need, Severity, rule
from nanolint_rules._values import is_asked_for

# Every device type of torch that a model can be trained on, and the names that vendors give
# their own when they register one.
DEVICES = ("cpu", "cuda", "mps", "xpu", "xla", "hpu", "mtia", "npu", "musa", "mlu", "sdaa", "meta")
CHOICES = {
    "dtype": KEYS["dtype"].choices or (),
    "init_from": KEYS["init_from"].choices or (),
    "backend": (*(KEYS["backend"].choices or ()), "xccl", "hccl", "cncl", "mccl"),
    "device": DEVICES,
}
MEANT = {
    "fp32": "float32", "float": "float32", "tf32": "float32",
    "bf16": "bfloat16",
    "fp16": "float16", "half": "float16",
    "gpu": "cuda", "metal": "mps",
    "new": "scratch", "checkpoint": "resume",
}  # fmt: skip


@rule("NL314", "invalid-choice", Severity.ERROR, needs=[Need.CONFIG], stops=True)
def invalid_choice(context: Context) -> Findings:
    """dtype, init_from, backend or device has a value that nothing accepts."""
    for key, choices in CHOICES.items():
        value = context.value(key)
        if value is None or not is_asked_for(context, key) or _is_legal(key, value, choices):
            continue
        if key in context.project.open_choices:
            continue  # train.py's last branch takes what is left
        hint = _hint(value, choices)
        if _may_be_the_forks_own(context, key, hint):
            continue
        legal = ", ".join(map(repr, choices))
        yield Finding(
            message=f"{key} = {value!r} is not one of {legal}{hint}",
            span=context.span(key),
            severity=Severity.WARNING if _may_be_fine(context, key) else None,
        )


def _is_legal(key: str, value: object, choices: tuple[object, ...]) -> bool:
    if not isinstance(value, str):
        return False
    if key == "device":  # 'cuda:1'
        return re.sub(r":\d+$", "", value) in choices
    if key == "backend":  # 'cpu:gloo,cuda:nccl'
        return all(part.rpartition(":")[2] in choices for part in value.lower().split(","))
    return value in choices


def _hint(value: object, choices: tuple[object, ...]) -> str:
    word = str(value).lower().removeprefix("torch.")
    near = get_close_matches(word, [str(choice) for choice in choices], n=1)
    meant = MEANT.get(word) or next(iter(near), None)
    return f"; did you mean {meant!r}?" if meant in choices else ""


def _may_be_the_forks_own(context: Context, key: str, hint: str) -> bool:
    """Whether a train.py of its own kind may take more: its own defaults, and other checkpoints."""
    if not context.may_be_another_trainers:
        return False
    return context.is_train_script or (key == "init_from" and not hint)


def _may_be_fine(context: Context, key: str) -> bool:
    """Whether the value may do no harm: a backend on one GPU, or code that is not nanoGPT's."""
    if context.may_be_another_trainers:
        return True
    alone = context.options.world_size in (None, 1) and all(
        case.target is None or case.target.count in (None, 1) for case in context.cases
    )
    return key == "backend" and alone
