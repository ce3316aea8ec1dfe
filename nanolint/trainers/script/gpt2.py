"""A GPT-2 as build-nanogpt writes it, which allocates what nanoGPT's does with biases and without
dropout. Each piece is compared with the versions that were, by its digest.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.notes import memo
from nanolint.trainers.nanogpt.reading import read_source, syntax_tree
from nanolint.trainers.nanogpt.recognition.pieces import digests, model_pieces

if TYPE_CHECKING:
    from collections.abc import Mapping

PIECES = Path(__file__).with_name("gpt2_pieces.json")
CORE = ("CausalSelfAttention.forward", "MLP.forward", "Block.forward", "GPT.forward")


@lru_cache(maxsize=1)
def known() -> Mapping[str, list[str]]:
    """Piece -> the digests of its versions."""
    found: dict[str, list[str]] = json.loads(PIECES.read_text("utf-8"))
    return found


@memo
def is_gpt2(path: Path, class_name: str) -> bool:
    """Whether every piece of the model ``class_name`` in the file at ``path`` is one of these."""
    try:
        tree = syntax_tree(read_source(path))
        pieces = model_pieces(tree, class_name)
        found = digests(tree, pieces)
    except (Unusable, RecursionError):
        return False
    if any(piece not in found for piece in CORE):
        return False
    return all(found.get(piece) in known().get(piece, ()) for piece in pieces)
