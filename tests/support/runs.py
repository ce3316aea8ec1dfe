"""Runs and cards that tests of the replay's users share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.gpus.lookup import find
from nanolint.trainers.nanogpt.resolve import default_run

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.run.run import Run

GPT2 = replace(default_run(), batch_size=16, gradient_accumulation_steps=32)
GPT2_XL = GPT2.having(
    batch_size=1,
    n_layer=48,
    n_head=25,
    n_embd=1600,
    vocab_size=50257,
    bias=True,
    init_from="gpt2-xl",
)
SMALL = GPT2.having(n_layer=2, n_head=2, n_embd=128, vocab_size=1000, block_size=128)


def layers(run: Run) -> int:
    assert run.sizes.n_layer is not None
    return run.sizes.n_layer


def heads(run: Run) -> int:
    assert run.sizes.n_head is not None
    return run.sizes.n_head


def width(run: Run) -> int:
    assert run.sizes.n_embd is not None
    return run.sizes.n_embd


def card(name: str, *, in_use_bytes: int = 0) -> Machine:
    return replace(find(name), in_use_bytes=in_use_bytes)
