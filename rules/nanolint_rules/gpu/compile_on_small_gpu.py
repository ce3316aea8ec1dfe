"""NL201: torch.compile warns that the card has too few multiprocessors, where somebody may care."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.rule import (
    Case,
    Context,
    Finding,
    Findings,
    FixAvailability,
    Need,
    Outcome,
    Safety,
    Severity,
    allocated_bytes,
    amount,
    judge,
    rule,
    runs_compiled,
)
from nanolint_rules._values import Remedy, is_asked_for, is_key, set_value
from nanolint_rules.gpu._cards import capability

if TYPE_CHECKING:
    from nanolint.rule import Gpu, Verdict

LEAST_SMS = 68  # is_big_gpu() in torch/_inductor/utils.py: an RTX 3080
WARNING = "Not enough SMs to use max_autotune_gemm mode"


@rule(
    "NL201",
    "compile-on-small-gpu",
    Severity.INFO,
    needs=[Need.CONFIG, Need.RUN, Need.GPU],
    fix=FixAvailability.SOMETIMES,
)
def compile_on_small_gpu(context: Context) -> Findings:
    """compile is set, or tuned, on a GPU with too few multiprocessors for max-autotune."""
    tuned = (context.project.compile_mode or "").startswith("max-autotune")
    if not is_key(context, "compile") or not (tuned or _is_chosen(context)):
        return
    small = [case for case in context.cases if _is_small(case)]
    if not small:
        return
    # Where the warning is harmless, nobody is better off without compile.
    remedy = _remedy(context) if tuned else Remedy()
    cost = "nothing is tuned as train.py asks" if tuned else "ignore it"
    for case in small:
        yield Finding(
            message=(
                f"torch.compile will warn on {case.gpu_name} ({_sms(case)} of {LEAST_SMS} SMs): "
                f'"{WARNING}"; {cost}'
            ),
            remedy=_cost(case),
            span=context.span("compile", "dtype", "device"),
            fix=remedy.fix,
            gpu=case.gpu_name,
            notes=remedy.notes,
            severity=Severity.WARNING if tuned else None,
        )


def _is_chosen(context: Context) -> bool:
    """Whether a config asks for compile; train.py's default is on, and nobody's choice."""
    return not context.is_train_script and is_asked_for(context, "compile")


def _is_small(case: Case) -> bool:
    sms = _sms(case)
    if capability(case) is None or sms is None:
        return False  # not NVIDIA, or only a size
    if case.resolution.in_float16:
        return False  # NL203 comes first: as it is, nothing is compiled
    return sms < LEAST_SMS and case.run is not None and runs_compiled(case.run, _gpu(case))


def _gpu(case: Case) -> Gpu:
    return case.needed_target.gpu


def _sms(case: Case) -> int | None:
    return _gpu(case).sm_count


def _remedy(context: Context) -> Remedy:
    """Turn compile off, where that fits every target: it often takes more memory."""
    verdicts = [_uncompiled(case) for case in context.cases]
    if any(verdict is None or verdict.outcome is not Outcome.COMFORTABLE for verdict in verdicts):
        return Remedy(notes=("not fixed: with compile = False the run may not fit",))
    return set_value(context, "compile", "False", safety=Safety.UNSAFE)


def _uncompiled(case: Case) -> Verdict | None:
    if case.run is None:
        return None
    run = replace(case.run, compile=False)
    return judge(run, case.needed_target)


def _cost(case: Case) -> str:
    """What compile = False would make of the most that is allocated; nothing where that is as much,
    or not known."""
    assert case.run is not None  # _is_small has seen to it
    if not case.run.follows("compile"):
        return ""
    on = allocated_bytes(case.run, _gpu(case))
    off = allocated_bytes(replace(case.run, compile=False), _gpu(case))
    if off == on:
        return ""
    return f"compile = False would take {amount(abs(off - on))} {'more' if off > on else 'less'}"
