"""Where no micro-batch will do, the message tells "not at all" from "not with room to spare"."""

from __future__ import annotations

from tests.support.harness import Bench

LARGE = "init_from = 'gpt2-large'\neval_only = True\neval_iters = 500\n"
CARD = "8xRTX3070"


def test_one_sequence_that_fits_thinly_is_not_denied() -> None:
    failing = Bench("NL102", gpu=CARD).finding(f"{LARGE}batch_size = 8\n").message
    thin = Bench("NL103", gpu=CARD).finding(f"{LARGE}batch_size = 1\n").message
    assert "; no micro-batch fits comfortably; the smallest card that takes" in failing
    assert thin.startswith("batch_size = 1 fits 8x RTX 3070 with about ")
    assert "; no micro-batch fits comfortably; the smallest card that takes" in thin
    assert not thin.endswith("comfortably")


def test_one_sequence_that_does_not_fit_is_denied() -> None:
    message = Bench("NL101", gpu="3GB").finding(f"{LARGE}batch_size = 8\n").message
    assert "; no micro-batch fits; the smallest card that takes" in message


def test_a_run_that_must_give_cached_memory_back_is_told_what_is_left_then() -> None:
    tiny = "n_layer = 1\nblock_size = 256\nbatch_size = 1\ngradient_accumulation_steps = 1\n"
    message = Bench("NL103", gpu="1200MiB").finding(f"{tiny}compile = False\n").message
    spare = "about 66.00 MiB to spare, less than"
    assert message.startswith(f"batch_size = 1 fits 1200 MiB card with {spare}")
