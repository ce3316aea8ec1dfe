"""Run before build-nanogpt's train_gpt2.py: a shard of tokens, its tokenizer, some of HellaSwag.

What the script does each 250 steps (validation, HellaSwag, generation) it does each second one, so
that it is traced with the optimizer's state there.
"""

import io
import sys
import types
from pathlib import Path

import numpy
import torch

TOKENS = 4_000_000

folder = Path("edu_fineweb10B")  # written into memory, as all that a traced script writes
folder.mkdir(exist_ok=True)
for split in ("train", "val"):
    numpy.save(folder / f"{split}_000.npy", numpy.zeros(TOKENS, numpy.uint16))

encoding = types.SimpleNamespace(encode=lambda text: [0] * len(text.split()), decode=lambda _: "")
sys.modules["tiktoken"] = types.SimpleNamespace(get_encoding=lambda _name: encoding)
LENGTHS = range(24, 168, 6)  # tokens of the longest of an example's four endings


def render(length):
    """Four endings of one example: data, tokens, mask, label."""
    tokens = torch.zeros((4, length), dtype=torch.long)
    return None, tokens, torch.ones_like(tokens), 0


sys.modules["hellaswag"] = types.SimpleNamespace(
    render_example=render, iterate_examples=lambda _split: iter(LENGTHS)
)

open_code = io.open_code


def earlier(path):
    """As ``io.open_code``; the script's text with the other interval."""
    file = open_code(path)
    if Path(path).name != "train_gpt2.py":
        return file
    return io.BytesIO(file.read().replace(b"step % 250", b"step % 2"))


io.open_code = earlier

# Every probability is zero on a card that computes nothing, which the real one refuses to draw from.
torch.multinomial = lambda probabilities, count, **_: torch.zeros(
    (*probabilities.shape[:-1], count), dtype=torch.long, device=probabilities.device
)
