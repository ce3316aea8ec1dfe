"""NL004: memory cannot be judged, because a value is unknown before the run, or impossible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import MEMORY, Context, Finding, Findings, Once, Severity, Span, rule
from nanolint_rules._values import integer, is_asked_for

if TYPE_CHECKING:
    from nanolint.rule import Unresolved

# Known, but illegal: NL314 reports these, with the values that would work.
CHOICES = ("dtype", "init_from", "device")

LAUNCH_LINE = "the launch line"
PARTNERS = {"vocab_size": "dataset"}


@rule("NL004", "unresolvable-value", Severity.INFO, needs=[], once=Once.MESSAGE)
def unresolvable_value(context: Context) -> Findings:
    """A value that decides memory is unknown or impossible, so memory is not checked."""
    unknown: dict[tuple[str, Span], list[str]] = {}
    for unresolved in context.settings.unresolved:
        if not context.is_config and not (context.is_trainer and unresolved.key == LAUNCH_LINE):
            continue
        if _is_reported_elsewhere(context, unresolved):
            continue
        asked = unresolved.key == LAUNCH_LINE or is_asked_for(context, unresolved.key)
        if unresolved.impossible and asked:
            yield _impossible(context, unresolved)
        else:
            place = unresolved.reason, _span(context, unresolved.key)
            unknown.setdefault(place, []).append(unresolved.key)
    for (reason, span), keys in unknown.items():
        yield _unknown(context, keys, reason, span)


def _is_reported_elsewhere(context: Context, unresolved: Unresolved) -> bool:
    if unresolved.stop is not None:  # NL6
        return True
    value = context.value(unresolved.key)
    if unresolved.key == "n_head":  # NL303 says which width would do
        return integer(value) is not None
    return unresolved.key in CHOICES and value is not None and unresolved.impossible


def _impossible(context: Context, unresolved: Unresolved) -> Finding:
    key = unresolved.key
    return Finding(
        message=f"memory not checked: {key} {unresolved.reason}",
        span=_span(context, key),
        severity=Severity.WARNING if _may_be_replaced(context, key) else Severity.ERROR,
    )


def _may_be_replaced(context: Context, key: str) -> bool:
    """Whether the train.py may compute the real value further down."""
    if key == LAUNCH_LINE:
        return False
    return context.is_train_script or context.may_be_another_trainers


def _unknown(context: Context, keys: list[str], reason: str, span: Span) -> Finding:
    because = "" if keys == [MEMORY] else f", because of {', '.join(keys)}"
    return Finding(
        message=f"memory not checked{because}: {reason}",
        span=span,
        notes=_advice(context, keys),
    )


def _span(context: Context, key: str) -> Span:
    return context.span(key, PARTNERS.get(key, key))


def _advice(context: Context, keys: list[str]) -> tuple[str, ...]:
    """Returns what the user can do about values that only the run will tell."""
    settings = context.settings.settings
    unknown = [
        f"--set {key}=VALUE" for key in keys if key in settings and context.value(key) is None
    ]
    if not unknown:
        lacking = context.settings.unresolved
        vain = any(each.impossible or each.untraced for each in lacking)
        return (f"`{context.trace}` gives a number",) if keys == [MEMORY] and not vain else ()
    what = "the value" if len(unknown) == 1 else "the values"
    return (f"pass {what} of the run: {' '.join(unknown)}",)
