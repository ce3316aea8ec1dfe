"""What else than another micro-batch would make a run fit: another model, another card."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.rule import amount, changes, is_comfortable, judge, smallest_card

if TYPE_CHECKING:
    from nanolint.rule import Change, Machine, Run


NONE = "no micro-batch"


def fits(pairs: list[tuple[Run, Machine]]) -> str:
    return "fits" if len(pairs) == 1 else "fits every target"


def none_fits(pairs: list[tuple[Run, Machine]]) -> str:
    """That no micro-batch will do. One sequence may fit, but only inside the model's error."""
    least = [(_by_few(run), target) for run, target in pairs]
    thinly = all(run.is_known and judge(run, target).fits for run, target in least)
    how = f"{fits(pairs)} comfortably" if thinly else fits(pairs)
    if any(run.batch_size > 1 for run, _ in least):
        return f"no known micro-batch {how}"
    return f"{NONE} {how}"


def another_model_or_card(pairs: list[tuple[Run, Machine]], none: str, key: str) -> str:
    """``key`` is what the script calls the micro-batch."""
    one = replace(pairs[0][0], batch_size=1)
    run = one if one.is_known else _by_few(pairs[0][0])
    card = smallest_card(run, pairs[0][1])
    larger = None if card is None else f"{card.name} ({amount(card.total_bytes)})"
    smaller = next((each for each in changes.smaller_checkpoints(run) if _helps(each, pairs)), None)
    if smaller is not None:
        or_card = f", or another card: {larger}" if larger else ""
        return f"{none}; {smaller} does{or_card}"
    if larger is None and none.startswith(NONE):
        return f"{none}, on this card or any other in the catalogue"
    if larger is None:
        return f"{none}; no card in the catalogue is large enough"
    size = f"{key}={run.batch_size}" if key.startswith("-") else f"{key} = {run.batch_size}"
    return f"{none}; the smallest card for {size} is {larger}"


def _by_few(run: Run) -> Run:
    """The fewest sequences at a time of which there is a tape: one, but for what was traced.

    With eval_only the accumulation makes no difference.
    """
    steps = run.batch_size * run.gradient_accumulation_steps
    sizes = (each for each in range(1, run.batch_size) if steps % each == 0)
    fewer = (
        changes.change(batch_size=each, gradient_accumulation_steps=steps // each).applied(run)
        for each in sizes
    )
    return next((each for each in fewer if each.is_known), run)


def _helps(other: Change, pairs: list[tuple[Run, Machine]]) -> bool:
    """Whether some micro-batch of the run with ``other`` fits everywhere."""
    return all(is_comfortable(other.applied(_by_few(run)), target) for run, target in pairs)
