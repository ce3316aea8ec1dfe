"""Run before the train.py of a fork of nanoGPT: files of tokens, whatever they are called.

Packages that only make texts into tokens, or show what was trained, are empty.
"""

import sys
import types

import numpy
import torch

TOKENS = 4_000_000
EMPTY = ("wandb", "tiktoken", "pandas", "tqdm")


def memmap(_path, dtype=numpy.uint16, **_):
    """As ``numpy.memmap``: a file that is long enough."""
    return numpy.zeros(TOKENS, dtype)


numpy.memmap = memmap


class Encoding:
    """As tiktoken's: a token for each character."""

    n_vocab = 50257

    def encode(self, text, **_):
        return [0] * len(text)

    def decode(self, _tokens):
        return ""


for name in EMPTY:
    try:
        __import__(name)
    except ImportError:
        sys.modules[name] = types.ModuleType(name)
sys.modules["tiktoken"].get_encoding = lambda _name: Encoding()
if not hasattr(sys.modules["tqdm"], "tqdm"):
    sys.modules["tqdm"].tqdm = lambda values, **_: values

# Every probability is zero on a card that computes nothing, which the real one refuses to draw from.
torch.multinomial = lambda probabilities, count=1, num_samples=None, **_: torch.zeros(
    (*probabilities.shape[:-1], num_samples or count), dtype=torch.long, device=probabilities.device
)
