"""Where a path is, without following links: a linked config belongs to the link's folder."""

from __future__ import annotations

import os
from pathlib import Path


def absolute(path: Path) -> Path:
    """``path`` from the root on, without ``..``."""
    return Path(os.path.abspath(path))  # noqa: PTH100 (resolve() would follow links)
