"""Training scripts of several surfaces, each with the same small loop."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent
from typing import TYPE_CHECKING

from nanolint.trainers.script.core import Around
from nanolint.trainers.script.modules import roots_of, source_of
from nanolint.trainers.script.reading import read_script

if TYPE_CHECKING:
    from nanolint.run.described import Described

MODEL = """
import math, os
from dataclasses import dataclass
import numpy as np
import torch
import torch.nn as nn
from torch.nn import functional as F

@dataclass
class Config:
    seq_len: int = 512
    vocab: int = 50304
    depth: int = 4
    heads: int = 6
    dim: int = 384

class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.n_head = config.heads
        self.qkv = nn.Linear(config.dim, 3 * config.dim)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.qkv(x).split(C, dim=2)
        return q.view(B, T, self.n_head, C // self.n_head)

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wte = nn.Embedding(config.vocab, config.dim)
        self.h = nn.ModuleList([Attention(config) for _ in range(config.depth)])
        self.head = nn.Linear(config.dim, config.vocab, bias=False)

def get_batch(rows, width):
    data = np.memmap("train.bin", dtype=np.uint16, mode="r")
    ix = torch.randint(len(data) - width, (rows,))
    x = torch.stack([torch.from_numpy(data[i : i + width].astype(np.int64)) for i in ix])
    y = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + width].astype(np.int64)) for i in ix])
    return x, y
"""

LOOP = """
model = Net(Config(seq_len={T}))
model.to("cuda")
model = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
for step in range(1000):
    optimizer.zero_grad()
    for micro_step in range({passes}):
        x, y = get_batch({B}, {T})
        with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
            loss = model(x, y)
        (loss / {passes}).backward()
    optimizer.step()
"""


def script(settings: str, *, B: str = "B", T: str = "T", passes: str = "passes") -> str:  # noqa: N803
    """A whole script: the model, ``settings``, and a loop with these names in it."""
    return MODEL + dedent(settings) + LOOP.format(B=B, T=T, passes=passes)


def inside_main(settings: str) -> str:
    """The same inside a function that is called last."""
    body = indent(dedent(settings) + LOOP.format(B="B", T="T", passes="passes"), "    ")
    return f"{MODEL}\ndef main():\n{body}\nif __name__ == '__main__':\n    main()\n"


def read(text: str, around: Around | None = None, folder: Path | None = None) -> Described:
    """What nanolint finds in a script."""
    path = folder / "train.py" if folder is not None else Path("/nowhere/train.py")
    source = source_of(path, "__main__", text)
    return read_script(source, roots_of(path) if folder is not None else (), around or Around())
