"""A tape is sound: what is freed was allocated before, once, and never twice."""

from __future__ import annotations

from itertools import accumulate
from random import Random

import pytest

from nanolint.gpus.lookup import find
from nanolint.recording.recording import record, state_bytes
from nanolint.run.run import Attention, Run
from tests.support.runs import GPT2

# From 6 multiprocessors to 144, so that Inductor splits its sums in many ways, and in none.
CARDS = ("gtx-1630", "rtx-2050", "t4", "rtx-3060-12gb", "rtx-4090", "h100-80gb-sxm")


def runs(count: int) -> list[Run]:
    choose = Random(11).choice
    found = []
    for _ in range(count):
        width = choose((32, 384, 768, 1024))
        run = GPT2.having(
            batch_size=choose((1, 3, 8, 12, 64)),
            block_size=choose((100, 1024, 2048)),
            n_layer=choose((1, 2, 3)),
            n_head=width // 32,
            n_embd=width,
            vocab_size=choose((65, 1000, 50257, 50304)),
            dropout=choose((0.0, 0.2)),
            bias=choose((True, False)),
            dtype=choose(("float32", "float16", "float16", "bfloat16")),
            compile=choose((True, True, False)),
            gradient_accumulation_steps=choose((1, 2, 5, 40)),
            attention=choose((*Attention, Attention.FLASH)),
            init_from=choose(("scratch", "resume")),
            world_size=choose((1, 2)),
        )
        found.append(run)
    return found


@pytest.mark.parametrize("card", CARDS)
def test_every_block_is_allocated_once_and_freed_at_most_once(card: str) -> None:
    for run in runs(20):
        tape = record(run, find(card).gpu)
        allocated = [event for event in tape.events if event >= 0]
        assert allocated == list(range(len(tape.sizes)))
        place = {event: at for at, event in enumerate(tape.events)}
        freed = [~event for event in tape.events if event < 0]
        assert len(freed) == len(set(freed))
        assert all(place[handle] < place[~handle] for handle in freed)
        live = accumulate(
            tape.sizes[event] if event >= 0 else -tape.sizes[~event] for event in tape.events
        )
        # At the end: parameters and Adam's moments, a batch, and logits that nobody deleted.
        *_, last = live
        assert last >= state_bytes(run) - 4 * run.parameters
