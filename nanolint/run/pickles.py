"""The vocabulary size in a dataset's meta.pkl, read without unpickling it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def vocabulary(meta_pkl: Path) -> int | None:
    return None
