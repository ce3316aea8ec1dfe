"""Record what PyTorch allocates in eager runs over generated configs: recorded/eager.json.

    python validation/record_eager.py path/to/nanoGPT --python .venv-cuda/bin/python
    python validation/record_eager.py path/to/nanoGPT --python ... --check --rows 1 5 72

The second form traces the rows of those numbers, or all without one, and says where the table has
something else. The configs come from a fixed seed.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from validation.oracle import Oracle, Row, figures, parser, record

TABLE = Path(__file__).parent / "recorded" / "eager.json"
STEPS = 2  # Adam's state appears after the first; from the second on, every step is the same
COUNT = 72  # generated configs
SEED = 20
KEYS = (
    "batch_size",
    "block_size",
    "n_layer",
    "n_head",
    "n_embd",
    "vocab_size",
    "dropout",
    "bias",
    "dtype",
    "grad_accum",
    "attention",
)


def generate(count: int) -> list[Row]:
    """Configs of few parameters and of many, of many tokens or few."""
    rng = random.Random(SEED)
    configs: list[Row] = []
    for number in range(count):
        dtype = ("bfloat16", "float16", "float32", "bfloat16")[number % 4]
        attention = ("flash", "efficient", "math")[number % 3]
        if dtype == "float32" and attention == "flash":
            attention = "efficient"  # flash attention takes only half types
        heads = rng.choice((1, 2, 3, 4, 6, 8))
        head = rng.choice((8, 16, 20, 24, 32, 40, 48, 64, 80, 128, 160))
        if attention == "efficient" and dtype != "float32":
            head = -(-head // 8) * 8  # PyTorch takes no other head in half types, from Ampere on
        block = rng.choice((1, 33, 64, 127, 200, 256, 512, 1000, 1024))
        configs.append(
            {
                "batch_size": rng.choice((1, 1, 2, 3, 7, 8, 12, 16, 32)),
                "block_size": block,
                "n_layer": rng.choice((1, 2, 3, 4, 6)),
                "n_head": heads,
                "n_embd": heads * head,
                "vocab_size": rng.choice((2, 65, 300, 1003, 32000, 50257, 50304)),
                "dropout": rng.choice((0.0, 0.0, 0.1)),
                "bias": rng.random() < 0.4,
                "dtype": dtype,
                "grad_accum": rng.choice((1, 2, 3)),
                "attention": attention,
            }
        )
    configs += HAND_PICKED
    return configs


def _picked(**values: object) -> Row:
    default = (12, 1024, 12, 12, 768, 50304, 0.0, False, "bfloat16", 2, "flash")
    return {**dict(zip(KEYS, default, strict=True)), **values}


HAND_PICKED = [
    _picked(),
    _picked(batch_size=64),
    _picked(batch_size=32, attention="math"),
    _picked(batch_size=16, block_size=512, n_layer=6, n_head=6, n_embd=384, dtype="float16"),
    _picked(batch_size=8, dropout=0.1, bias=True, dtype="float32", attention="efficient"),
    _picked(
        batch_size=68, n_layer=2, n_head=2, n_embd=64, vocab_size=65, bias=True
    ),  # > 65,536 tokens
    # Where transposing or flattening the heads copies nothing.
    *(
        _picked(
            batch_size=batch,
            block_size=block,
            n_layer=1,
            n_head=heads,
            n_embd=40,
            dropout=0.1,
            vocab_size=65,
            attention=attention,
            dtype=dtype,
        )
        for batch, block, heads in ((1, 33, 2), (3, 33, 1), (3, 1, 2), (1, 1, 1), (1, 33, 1))
        for attention, dtype in (("math", "bfloat16"), ("flash", "float16"))
    ),
    _picked(batch_size=1, block_size=4000, n_layer=1, n_head=2, n_embd=64, vocab_size=300),
]


def main() -> int:
    """Trace and write, or compare."""
    options = parser(str(__doc__)).parse_args()
    oracle = Oracle(options.nanogpt, options.python, options.cache)

    def trace_row(config: Row) -> Row:
        return figures(oracle.run(config, compile=False, steps=STEPS))

    return record(TABLE, generate(COUNT), trace_row, only=options.rows, check=options.check)


if __name__ == "__main__":
    raise SystemExit(main())
