"""Where no micro-batch will do, the message tells "not at all" from "not with room to spare".

These take seconds each.
"""

from __future__ import annotations

from tests.support.harness import Bench
from tests.unit.rules.memory.test_none_fits import CARD, LARGE


def test_one_sequence_that_fits_thinly_is_not_denied() -> None:
    failing = Bench("NL102", gpu=CARD).finding(f"{LARGE}batch_size = 8\n")
    thin = Bench("NL103", gpu=CARD).finding(f"{LARGE}batch_size = 1\n")
    assert failing.remedy.startswith("no micro-batch fits comfortably at this block_size; ")
    assert thin.message.startswith("barely fits 8x RTX 3070: ")
    assert thin.remedy.startswith("no micro-batch fits comfortably at this block_size; ")


def test_the_nearest_checkpoint_that_fits_is_named_beside_a_card() -> None:
    text = "init_from = 'gpt2-xl'\nbatch_size = 1\ngradient_accumulation_steps = 32\n"
    found = Bench("NL414", gpu="rtx-4070").finding(text)
    assert found.remedy.startswith("no micro-batch fits; init_from = 'gpt2-medium' does, or ")
    assert found.span.start == 0, "what makes the model large is to blame, not batch_size = 1"
    nearest = text.replace("gpt2-xl", "gpt2-medium")
    assert not Bench("NL414", gpu="rtx-4070").findings(nearest)
    assert Bench("NL414", gpu="rtx-4070").findings(text.replace("gpt2-xl", "gpt2-large"))


def test_a_model_from_scratch_is_to_blame_itself() -> None:
    text = "batch_size = 1\nn_layer = 48\nn_head = 25\nn_embd = 1600\n"
    found = Bench("NL414", gpu="rtx-4070").finding(text)
    assert text[found.span.start : found.span.end] == "n_embd = 1600"
    assert found.remedy.startswith("no micro-batch fits; the smallest card for")
