"""NL515: a sampler shuffles each epoch alike, as nothing tells it which one it is."""

from __future__ import annotations

from nanolint.rule import Context, Fact, Findings, Once, Severity, rule, told
from nanolint_rules.training._lines import found_at


@rule("NL515", "sampler-never-told-epoch", Severity.WARNING, needs=[], once=Once.MESSAGE)
def sampler_never_told_epoch(context: Context) -> Findings:
    """A DistributedSampler that shuffles is gone through several times, without set_epoch."""
    for each, lines in told(context, Fact.ALIKE, of_parts=True):
        yield found_at(
            context,
            lines,
            f"each of {each.numbers[0]:,} epochs has the same order: nothing tells the "
            "DistributedSampler its epoch",
            does="goes through it",
            remedy="call set_epoch(epoch) on the sampler before each epoch",
        )
