"""Where a finding about memory stands, and what else of the file matters to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.rule import Related, changes, state_bytes
from nanolint_rules.memory._script import micro_batch_span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.rule import Context, OutOfMemory, Span, Verdict
    from nanolint_rules.memory._cure import Cure


def partner(context: Context) -> str:
    """The key that makes up for a smaller micro-batch."""
    return "gradient_accumulation_steps" if context.run is None else changes.partner(context.run)


def to_blame(context: Context, remedy: Cure) -> Span:
    """The value to change; where no micro-batch helps, what makes the model large."""
    run = context.run
    in_script = micro_batch_span(context)
    if in_script is not None:
        return in_script
    if run is None or "batch_size" in remedy.changes:
        return context.span("batch_size", partner(context), "block_size")
    if "block_size" in remedy.changes:
        return context.span("block_size", "batch_size")
    if run.sizes.init_from != "scratch":
        return context.span("init_from", "batch_size", "block_size")
    return context.span("n_embd", "n_layer", "block_size", "batch_size")


def related(
    context: Context, remedy: Cure, verdict: Verdict, oom: OutOfMemory
) -> Iterator[Related]:
    """The other keys of this file that matter, and how."""
    reasons = {}
    if partner(context) in remedy.changes:
        reasons[partner(context)] = "raised to keep the effective batch"
    shape = re.search(r"\(.*\bB\b.*\bT\b.*\)", oom.at)
    if shape and not is_too_large(verdict):
        reasons["block_size"] = f"T in {shape[0]}"
    if verdict.run.sizes.init_from != "scratch":
        reasons["init_from"] = "the model's size comes from here"
    for key, reason in reasons.items():
        if context.assignment(key):
            yield Related(context.span(key), reason)


def is_too_large(verdict: Verdict) -> bool:
    """Whether the model does not fit, whatever it is trained on."""
    return state_bytes(verdict.run) > verdict.usable_bytes
