"""Where no micro-batch will do, the message tells "not at all" from "not with room to spare"."""

from __future__ import annotations

from tests.support.harness import Bench

LARGE = "init_from = 'gpt2-large'\neval_only = True\neval_iters = 500\n"
CARD = "8xRTX3070"


def test_one_sequence_that_does_not_fit_is_denied() -> None:
    remedy = Bench("NL101", gpu="3GB").finding(f"{LARGE}batch_size = 8\n").remedy
    assert remedy.startswith("no micro-batch fits; ")


def test_a_run_that_must_give_cached_memory_back_is_told_what_is_left_then() -> None:
    tiny = "n_layer = 1\nblock_size = 256\nbatch_size = 1\ngradient_accumulation_steps = 1\n"
    message = Bench("NL103", gpu="1200MiB").finding(f"{tiny}compile = False\n").message
    assert message.startswith("barely fits 1200 MiB card: 1.1 of 1.2 GiB (66 MiB to spare)")
