"""NL302: a value whose type is not the default's, so that the command line refuses the next one."""

from __future__ import annotations

import re

from nanolint.rule import (
    Assignment,
    Context,
    Finding,
    Findings,
    FixAvailability,
    Known,
    Need,
    Safety,
    Severity,
    rule,
)
from nanolint_rules._values import Remedy, set_value

_NUMBER = re.compile(r"[-+]?[\d_]+(\.[\d_]*)?([eE][-+]?\d+)?")
_PLAIN = (bool, int, float, str)  # what the configurator compares


@rule(
    "NL302",
    "drifting-type",
    Severity.WARNING,
    needs=[Need.CONFIG],
    fix=FixAvailability.SOMETIMES,
)
def drifting_type(context: Context) -> Findings:
    """A value has another type than its default, so --key=value fails for it."""
    if context.is_train_script:
        return  # what it sets is the default
    for key, default in context.project.defaults.items():
        assignment = context.assignment(key)
        if assignment is None or not isinstance(assignment.value, Known):
            continue
        wanted, found = getattr(default, "value", None), assignment.value.value
        if not isinstance(wanted, _PLAIN) or type(found) is type(wanted):
            continue
        remedy = _remedy(context, assignment, type(wanted))
        yield Finding(
            message=(
                f"{key} = {_format(assignment)} is {_kind(found)}, but train.py's default is "
                f"{_kind(wanted)}: --{key}={wanted!r} would fail its assertion"
            ),
            span=context.span(key),
            fix=remedy.fix,
            notes=remedy.notes,
        )


def _remedy(context: Context, assignment: Assignment, wanted: type) -> Remedy:
    literal = _converted(assignment, wanted)
    if literal is None or context.from_command_line(assignment.key):
        return Remedy()
    return set_value(context, assignment.key, literal, safety=Safety.SAFE)


def _converted(assignment: Assignment, wanted: type) -> str | None:
    """The same value as a literal of the type ``wanted``, None where there is none."""
    text, value = assignment.expression.strip("() \t"), getattr(assignment.value, "value", None)
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not _NUMBER.fullmatch(text)
    ):
        return None
    if wanted is float:
        return f"{text}.0"
    if wanted is bool and value in (0, 1):
        return str(bool(value))
    if wanted is int and float(value).is_integer():  # neither inf nor nan is
        return f"{int(value):_}" if "_" in text else str(int(value))
    return None


def _kind(value: object) -> str:
    name = type(value).__name__
    return "None" if value is None else f"an {name}" if name == "int" else f"a {name}"


def _format(assignment: Assignment) -> str:
    return " ".join(assignment.expression.split())
