"""Texts that the interpreter reads and nothing imports, and which class of ``torch.nn`` each
has."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.regex import lazily

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).with_name("texts")
NN = Path(__file__).with_name("nn_texts")
EINOPS_LAYERS, OPTIMIZERS = FOLDER / "einops_layers.py", FOLDER / "optimizers.py"
_NAMES = lazily(r"^(?:class )?([A-Z]\w+)(?: =|[(:])", re.MULTILINE)


@cache
def of_nn() -> Mapping[str, Path]:
    """The texts of ``torch.nn``, by the names that they bind."""
    texts = ((path, path.read_text(encoding="utf-8")) for path in sorted(NN.glob("*.py")))
    return {name: path for path, text in texts for name in _NAMES.findall(text)}
