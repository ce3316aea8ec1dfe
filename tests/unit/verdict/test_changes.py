"""A change is what is printed, what is applied to a run, and what is written."""

from __future__ import annotations

from dataclasses import replace

from nanolint.verdict.changes import Change, change, micro_batch, partner, shorter_contexts
from tests.support.runs import GPT2


def test_a_change_is_printed_as_it_is_written_and_applied_as_it_is_printed() -> None:
    smaller = micro_batch(GPT2, 8, 64)
    assert str(smaller) == "batch_size = 8, gradient_accumulation_steps = 64"
    assert smaller.joined(" with ") == "batch_size = 8 with gradient_accumulation_steps = 64"
    applied = smaller.applied(GPT2)
    assert applied == replace(GPT2, batch_size=8, gradient_accumulation_steps=64)
    assert applied.effective_batch_size == GPT2.effective_batch_size
    assert str(change(dtype="float16")) == "dtype = 'float16'"


def test_an_evaluation_is_made_up_for_by_its_own_partner() -> None:
    run = replace(GPT2, eval_only=True)
    assert (partner(GPT2), partner(run)) == ("gradient_accumulation_steps", "eval_iters")
    assert micro_batch(run, 8, 400).counts == {"batch_size": 8, "eval_iters": 400}


def test_what_follows_from_a_change_is_applied_and_not_written() -> None:
    checkpoint = Change((("init_from", "gpt2"),), (("n_layer", 12),))
    assert str(checkpoint) == "init_from = 'gpt2'"
    assert checkpoint.applied(GPT2.having(n_layer=3)).sizes.n_layer == 12
    both = checkpoint | change(batch_size=2)
    assert str(both) == "init_from = 'gpt2', batch_size = 2"
    assert both.applied(GPT2).batch_size == 2


def test_contexts_are_halved_as_long_as_they_are_even_and_worth_training_with() -> None:
    def halves(context: int) -> list[int]:
        return [c.counts["block_size"] for c in shorter_contexts(replace(GPT2, block_size=context))]

    assert halves(1024) == [512, 256, 128, 64]
    assert halves(1000) == [500, 250, 125]
    assert halves(127) == halves(64) == []
