"""Findings on learning rates that were replayed for all steps of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import Fact, Finding, elsewhere, span_of, told

if TYPE_CHECKING:
    from nanolint.rule import Context, Findings

MOST_SHOWN = 3  # lines of other files, among the notes
SAID = {
    "warm-up": (
        "{0:,} {unit} end within the warm-up of {1:,}: the learning rate stops at {a} of {b}",
        "shorten the warm-up",
    ),
    "zero": ("the learning rate is 0 in the first {1:,} of {0:,} {unit}", "begin above 0"),
    "early": (
        "{0:,} {unit} end within the decay, which takes {1:,}: the learning rate stops at {b}, "
        "and not at {c}",
        "let the decay end with the run",
    ),
    "late": (
        "the decay ends after {1:,} of {0:,} {unit}: the learning rate of the rest is {b}",
        "let the decay end with the run",
    ),
    "rises": (
        "the learning rate rises again after {1:,} of {0:,} {unit}: from {b} to {c}",
        "let the decay end with the run",
    ),
}


def replayed(context: Context, *kinds: str) -> Findings:
    """The rates that these words describe."""
    for each, lines in told(context, Fact.RATE, of_parts=True):
        what, how, *rates = each.words
        if what not in kinds:
            continue
        message, remedy = SAID[what]
        unit = "turns" if how == "turn" else "steps"
        text = message.format(*each.numbers, unit=unit, **dict(zip("abc", rates, strict=False)))
        if how.isdecimal():
            text = f"{text}; the schedule steps {how} times a step of the optimizer"
            remedy = "step it once for each step of the optimizer"
        elif how == "turn":
            text = f"{text}; the schedule steps once a turn of the outer loop"
            remedy = "count these turns, or step it after each step of the optimizer"
        others = tuple(elsewhere(context, lines, "sets the rate"))
        yield Finding(
            message=text,
            span=span_of(context, lines),
            remedy=remedy,
            notes=tuple(map(str, others[:MOST_SHOWN])),
            holders=others,
        )
