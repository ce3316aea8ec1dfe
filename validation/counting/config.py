"""One run of nanoGPT, as far as memory goes, and the options of the command line that say it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

DTYPES = ("bfloat16", "float16", "float32")


class Config(NamedTuple):
    """What train.py's settings say about memory."""

    batch_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    vocab_size: int
    dropout: float
    bias: bool
    dtype: str
    grad_accum: int
    attention: str  # flash, efficient, or math: model.py's own, written out


def parser(description: str, attentions: tuple[str, ...]) -> argparse.ArgumentParser:
    """Options of the fields of Config, the checkout of nanoGPT, and where to write the events."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("nanogpt", type=_checkout, help="a checkout of nanoGPT, for its model.py")
    for name, default in (
        ("batch_size", 12),
        ("block_size", 1024),
        ("n_layer", 12),
        ("n_head", 12),
        ("n_embd", 768),
        ("vocab_size", 50304),
        ("grad_accum", 2),
    ):
        options.add_argument(f"--{name}", type=int, default=default, help=f"default {default}")
    options.add_argument("--dropout", type=float, default=0.0)
    options.add_argument("--bias", action="store_true")
    options.add_argument("--dtype", choices=DTYPES, default="bfloat16")
    options.add_argument("--attention", choices=attentions, default="flash")
    options.add_argument("--events", type=Path, help="write every allocation and release here")
    return options


def _checkout(folder: str) -> Path:
    if not (Path(folder) / "model.py").is_file():
        raise argparse.ArgumentTypeError(f"{folder} has no model.py")
    return Path(folder)
