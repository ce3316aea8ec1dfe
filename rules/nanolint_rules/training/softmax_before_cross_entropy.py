"""NL516: a loss takes the softmax of what is one already."""

from __future__ import annotations

from nanolint.rule import Context, Fact, Findings, Once, Severity, rule, told
from nanolint_rules.training._lines import found_at

_SAID = {
    ("softmax", "cross_entropy"): (
        "cross_entropy gets probabilities and takes their softmax: of V words the loss cannot "
        "fall below log(1 + (V - 1) / e)",
        "give it the logits",
    ),
    ("log_softmax", "cross_entropy"): (
        "cross_entropy gets the result of log_softmax and takes that of it again: it costs memory "
        "and changes nothing",
        "give it the logits, or use nll_loss",
    ),
    ("softmax", "nll_loss"): (
        "nll_loss gets probabilities, not their logarithms: the loss is their negative mean",
        "use log_softmax",
    ),
}


@rule("NL516", "softmax-before-cross-entropy", Severity.WARNING, needs=[], once=Once.MESSAGE)
def softmax_before_cross_entropy(context: Context) -> Findings:
    """The logits of a cross-entropy went through a softmax before."""
    for each, lines in told(context, Fact.PROBABILITIES, of_parts=True):
        of, loss = each.words
        message, remedy = _SAID[of, loss]
        is_twice = of == "log_softmax"
        yield found_at(
            context,
            lines,
            message,
            does="is its loss",
            remedy=remedy,
            severity=Severity.INFO if is_twice else None,
        )
