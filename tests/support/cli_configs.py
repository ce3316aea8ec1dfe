"""Configs that the tests of `check` write, and the options that they give."""

from __future__ import annotations

from pathlib import Path

HEADS = "n_embd = 384\nn_head = 5\nbatch_size = 2\nblock_size = 64\n"  # NL303, which has no fix
LARGE = """\
# 124M on one card
batch_size = 16  # micro-batch
block_size = 1024
gradient_accumulation_steps = 4 * 8
dtype = 'bfloat16'
n_layer, n_head, n_embd = 12, 12, 768
"""
SMALL = """\
batch_size = 2
gradient_accumulation_steps = 8
block_size = 64
n_layer = 2
n_head = 2
n_embd = 128
compile = False
"""
GPU = "--gpu=rtx-3060-12gb"
CONCISE = "--output-format=concise"
JSON = "--output-format=json"


def write(name: str, text: str = LARGE) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path
