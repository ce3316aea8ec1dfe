"""Record what PyTorch allocates in compiled runs: validation/recorded/compiled.json.

    python validation/record_compiled.py path/to/nanoGPT --python .venv-cuda/bin/python
    python validation/record_compiled.py path/to/nanoGPT --python ... --check --rows default seed-3

The second form traces the named rows, or all without a name, and says where the table has
something else. Inductor takes a second or two for each layer of a model.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.tape.allocator.play import play
from nanolint.trace.process import PretendedCard
from validation.oracle import Oracle, Row, figures, parser, record

if TYPE_CHECKING:
    from nanolint.trace.traced import Traced

TABLE = Path(__file__).parent / "recorded" / "compiled.json"
STEPS = 4  # the last after a later evaluation; what is reserved settles before
# An RTX 4070, as far as Inductor reads it: how it splits reductions, and so its temporaries.
CARD = PretendedCard("NVIDIA GeForce RTX 4070", 12 << 30, (8, 9), 46)
STEP_BYTES = 2 << 20  # every segment is a multiple of it, so limits in between differ in nothing
SEED = 7
GENERATED = 30
LIMITED = {  # rows that also say on how small a card they survive, which takes many replays
    "fact1",
    "default",
    "shakespeare-char",
    "tiny-l2-50304",
    "v50257-nobias",
    "gpt2-large-b1",
    "b1-t1024",
    "v8192",
    "seed-2",
    "seed-11",
}


def shaped(
    name: str,
    shape: tuple[int, int, int, int, int, int],
    grad_accum: int = 4,
    dtype: str = "bfloat16",
    attention: str = "flash",
    *,
    dropout: float = 0.0,
    bias: bool = False,
) -> Row:
    """A row. ``shape``: batch, tokens, layers, heads, width, words of the vocabulary."""
    keys = ("batch_size", "block_size", "n_layer", "n_head", "n_embd", "vocab_size")
    row: Row = {"name": name, **dict(zip(keys, shape, strict=True))}
    row |= {"dropout": dropout, "bias": bias, "dtype": dtype}
    return row | {"grad_accum": grad_accum, "attention": attention}


HALF = ("float16", "efficient")
FULL = ("float32", "efficient")

HAND_PICKED = [
    shaped("mini", (4, 128, 3, 4, 128, 512)),
    shaped("mini-drop", (4, 128, 3, 4, 128, 512), dropout=0.1),
    shaped("mini-bias", (4, 128, 3, 4, 128, 512), bias=True),
    shaped("mini-fp32", (4, 128, 3, 4, 128, 512), 4, *FULL),
    shaped("mini-v65", (4, 128, 3, 4, 128, 65)),
    # What people run.
    shaped("fact1", (16, 512, 6, 6, 384, 50304), 4, "float16"),
    shaped("default", (12, 1024, 12, 12, 768, 50304), 2),
    shaped("shakespeare-char", (64, 256, 6, 6, 384, 65), 1, dropout=0.2),
    shaped("s1-b64", (64, 1024, 12, 12, 768, 50304), 2),
    shaped("default-fp32", (12, 1024, 12, 12, 768, 50304), 2, *FULL),
    shaped("default-fp16-eff", (12, 1024, 12, 12, 768, 50304), 4, *HALF),
    shaped("default-bias-drop", (8, 1024, 12, 12, 768, 50304), dropout=0.1, bias=True),
    shaped("gpt2-finetune-v50257", (4, 1024, 12, 12, 768, 50257), 32, bias=True),
    shaped("gpt2-medium", (4, 1024, 24, 16, 1024, 50257), bias=True),
    shaped("gpt2-large-b1", (1, 1024, 36, 20, 1280, 50257), 32, bias=True),
    shaped("gpt2-large-b1-t64", (1, 64, 36, 20, 1280, 50304), 1),
    shaped("gpt2-xl-b1", (1, 1024, 48, 25, 1600, 50257), 32, bias=True),
    shaped("gpt2-xl-b8", (8, 1024, 48, 25, 1600, 50304), 2),
    shaped("gpt2-xl-fp32", (2, 512, 48, 25, 1600, 50304), 4, *FULL, dropout=0.1),
    # Tiny.
    shaped("tiny-char-cpu", (12, 64, 4, 4, 128, 65), 1),
    shaped("tiny-char-fp16-drop", (12, 64, 4, 4, 128, 65), 1, *HALF, dropout=0.2),
    shaped("tiny-fp32", (12, 64, 4, 4, 128, 65), 1, *FULL, dropout=0.1),
    shaped("tiny-l1", (4, 64, 1, 2, 128, 65), 1),
    shaped("tiny-l2-50304", (2, 64, 2, 4, 128, 50304), 2),
    shaped("tiny-b1", (1, 128, 2, 4, 128, 50304), 1),
    shaped("tiny-b1-v65", (1, 128, 3, 4, 128, 65), 2, dropout=0.1),
    # Vocabularies.
    shaped("v32000", (8, 1024, 8, 8, 512, 32000)),
    shaped("v32000-fp32", (8, 512, 8, 8, 512, 32000), 4, *FULL),
    shaped("v50257-nobias", (8, 1024, 6, 8, 512, 50257)),
    shaped("v50257-fp32", (4, 512, 6, 8, 512, 50257), 2, *FULL, bias=True),
    shaped("v65-wide", (32, 512, 8, 16, 1024, 65), 2),
    shaped("v65-fp32", (64, 256, 6, 6, 384, 65), 1, *FULL, dropout=0.2),
    shaped("v65-eff", (64, 256, 6, 6, 384, 65), 1, *HALF, dropout=0.2),
    shaped("v65-bias", (64, 256, 6, 6, 384, 65), 1, bias=True),
    shaped("v100-eff-bias", (16, 512, 4, 8, 512, 100), 4, *HALF, bias=True),
    shaped("v256-deep", (16, 512, 24, 8, 512, 256), 1),
    shaped("v1000-drop-bias", (16, 256, 10, 10, 640, 1000), 8, dropout=0.1, bias=True),
    shaped("v8192", (32, 512, 8, 8, 512, 8192), 1),
    # Shapes.
    shaped("shallow-wide", (4, 1024, 2, 32, 2048, 50304), 2),
    shaped("long-t", (2, 4096, 6, 8, 512, 50304), 2),
    shaped("short-t", (128, 64, 6, 6, 384, 50304), 1, "float16", dropout=0.1),
    shaped("odd-t", (6, 500, 6, 6, 384, 50304), 2),
    shaped("odd-t-eff", (6, 500, 6, 6, 384, 50304), 2, *HALF),
    shaped("odd-everything", (5, 333, 5, 5, 320, 12345), 3, dropout=0.1, bias=True),
    shaped("b1-t1024", (1, 1024, 12, 12, 768, 50304), 1),
    shaped("b1-fp32", (1, 1024, 12, 12, 768, 50304), 2, *FULL, dropout=0.1, bias=True),
    shaped("b2-drop", (2, 1024, 12, 12, 768, 50304), 2, dropout=0.1),
    shaped("b24", (24, 1024, 12, 12, 768, 50304), 20),
    shaped("medium-b16-fp16", (16, 1024, 24, 16, 1024, 50304), 2, "float16", dropout=0.1),
    shaped("b3-t256", (3, 256, 8, 8, 512, 50304), 16, *HALF, dropout=0.1),
    shaped("head-40", (8, 512, 4, 8, 320, 50304), 1),
    shaped("narrow-64", (64, 256, 4, 4, 64, 65), 1),
]


def generate(count: int) -> list[Row]:
    """Configs of any shape that Inductor takes some seconds for, the same in every call."""
    rng = random.Random(SEED)
    rows: list[Row] = []
    for number in range(count):
        dtype = rng.choice(("bfloat16", "bfloat16", "float16", "float32"))
        heads = rng.choice((1, 2, 3, 4, 6, 8, 12))
        width = rng.choice((16, 32, 40, 64, 80, 128))
        if heads * width < 64:
            width = 64
        batch = rng.choice((1, 2, 3, 4, 5, 8, 12, 24, 48))
        block = rng.choice((64, 128, 200, 256, 512, 1000, 1024, 2048))
        layers = rng.choice((1, 2, 3, 4, 5, 6))
        words = rng.choice((65, 96, 1003, 5000, 32000, 50257, 50264, 50304))
        dropout, bias = rng.choice((0.0, 0.0, 0.1)), rng.random() < 0.4
        half = dtype != "float32"  # flash attention takes only half types
        attention = rng.choice(("flash", "flash", "efficient")) if half else "efficient"
        shape = (batch, block, layers, heads, heads * width, words)
        accum = rng.choice((1, 2, 3, 8))
        named = shaped(f"seed-{number}", shape, accum, dtype, attention, dropout=dropout, bias=bias)
        rows.append(named)
    return rows


def configs() -> list[Row]:
    """All of them, in the table's order."""
    return HAND_PICKED + generate(GENERATED)


def least_limit(found: Traced) -> int:
    """The fewest bytes, in whole steps of 2 MiB, on which the run can be played."""
    fails, survives = 0, -(-found.reserved_bytes // STEP_BYTES)
    while survives - fails > 1:
        middle = (fails + survives) // 2
        if play(found.tape, limit_bytes=middle * STEP_BYTES).refusal is None:
            survives = middle
        else:
            fails = middle
    return survives * STEP_BYTES


def main() -> int:
    """Trace and write, or compare."""
    options = parser(str(__doc__)).parse_args()
    oracle = Oracle(options.nanogpt, options.python, options.cache, CARD)

    def trace_row(config: Row) -> Row:
        found = oracle.run(config, compile=True, steps=STEPS, evaluate_late=True)
        limit = {"least_limit": least_limit(found)} if config["name"] in LIMITED else {}
        return figures(found) | limit

    return record(TABLE, configs(), trace_row, only=options.rows, check=options.check)


if __name__ == "__main__":
    raise SystemExit(main())
