"""The sizes of a 124M model, for configs without a script near them that are not in doubt."""

from __future__ import annotations

MODEL = "n_layer = 12\nn_head = 12\nn_embd = 768\n"
