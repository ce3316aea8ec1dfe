"""Runs and cards that tests of the replay's users share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.gpus.lookup import find
from nanolint.run.model import Attention, Run

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Target

GPT2 = Run(
    batch_size=16,
    gradient_accumulation_steps=32,
    world_size=1,
    block_size=1024,
    n_layer=12,
    n_head=12,
    n_embd=768,
    vocab_size=50304,
    dropout=0.0,
    bias=False,
    dtype="bfloat16",
    compile=True,
    init_from="scratch",
    device="cuda",
    attention=Attention.FLASH,
)
GPT2_XL = replace(
    GPT2,
    batch_size=1,
    n_layer=48,
    n_head=25,
    n_embd=1600,
    vocab_size=50257,
    bias=True,
    init_from="gpt2-xl",
)
SMALL = replace(GPT2, n_layer=2, n_head=2, n_embd=128, vocab_size=1000, block_size=128)


def card(name: str, *, in_use_bytes: int = 0) -> Target:
    return replace(find(name), in_use_bytes=in_use_bytes)
