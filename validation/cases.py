"""The runs that measure_gpu.py measures: from tiny to nearly full, each a plain dictionary."""

from __future__ import annotations

from typing import TypedDict


class Case(TypedDict):
    """One run of nanoGPT. ``limit_gib`` caps what PyTorch may reserve, to make small cards."""

    name: str
    batch_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    vocab_size: int
    dropout: float
    bias: bool
    dtype: str
    compile: bool
    gradient_accumulation_steps: int
    limit_gib: float | None


GPT2 = {"block_size": 1024, "n_layer": 12, "n_head": 12, "n_embd": 768, "vocab_size": 50304}
CHARACTERS = {"block_size": 256, "n_layer": 6, "n_head": 6, "n_embd": 384, "vocab_size": 65}
SMALL = {"block_size": 512, "n_layer": 6, "n_head": 6, "n_embd": 384, "vocab_size": 50304}
MEDIUM = {"block_size": 1024, "n_layer": 24, "n_head": 16, "n_embd": 1024, "vocab_size": 50257}
XL = {"block_size": 1024, "n_layer": 48, "n_head": 25, "n_embd": 1600, "vocab_size": 50257}


def _case(name: str, shape: dict[str, int], batch_size: int, **changes: object) -> Case:
    case: dict[str, object] = {
        "name": name,
        "batch_size": batch_size,
        **shape,
        "dropout": 0.0,
        "bias": False,
        "dtype": "bfloat16",
        "compile": True,
        "gradient_accumulation_steps": 2,
        "limit_gib": None,
    }
    return {**case, **changes}  # type: ignore[typeddict-item]


def cases() -> list[Case]:
    """All cases, the most telling first, for a budget may cut the list short."""
    found: list[Case] = []
    for compiled in (True, False):
        how = {"compile": compiled}
        found += [
            _case("default", GPT2, 12, **how),
            _case("small-fp16", SMALL, 16, dtype="float16", gradient_accumulation_steps=4, **how),
            _case("characters", CHARACTERS, 64, dropout=0.2, gradient_accumulation_steps=1, **how),
            _case("default-fp32", GPT2, 8, dtype="float32", **how),
            _case("logits-on-12-gb", GPT2, 64, limit_gib=9.5, **how),
            _case("batch-16-on-12-gb", GPT2, 16, limit_gib=11.3, **how),
            _case("batch-8-on-12-gb", GPT2, 8, limit_gib=11.3, **how),
            _case("default-dropout-bias", GPT2, 8, dropout=0.1, bias=True, **how),
            _case("one-sequence", GPT2, 1, gradient_accumulation_steps=1, **how),
            _case("medium", MEDIUM, 8, bias=True, **how),
            _case("default-batch-64", GPT2, 64, **how),
            _case("odd-shapes", {**SMALL, "block_size": 200, "vocab_size": 1003}, 7, **how),
        ]
    found += [
        _case("xl", XL, 2, bias=True),
        _case("xl-on-24-gb", XL, 1, bias=True, limit_gib=23.2),
        _case("nearly-full", GPT2, 160),
        _case("more-than-full", GPT2, 256),
        _case("tiny", {**CHARACTERS, "n_layer": 2, "n_embd": 96}, 4),
    ]
    return found
