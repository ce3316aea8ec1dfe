"""Which parts of model.py and of the training loop are nanoGPT's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanolint.run.config import ManualAttention

if TYPE_CHECKING:
    import ast
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Recognition:
    """What is not nanoGPT's, in words; how attention is computed; the files that were read."""

    strange: tuple[str, ...] = ()
    manual_attention: ManualAttention = ManualAttention.NEVER
    reads: tuple[Path, ...] = ()


def recognise(train: ast.Module, train_script: Path) -> Recognition:
    return Recognition()
