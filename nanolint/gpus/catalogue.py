"""Every card that nanolint knows by name, read from ``catalogue.json`` beside this file.

``scripts/build_gpu_catalogue.py`` writes that file.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from nanolint.gpus.gpu import Gpu


@cache
def load() -> tuple[Gpu, ...]:
    """Every card, NVIDIA's oldest architecture first. Sizes are in bytes."""
    return tuple(_gpu(row) for row in _catalogue()["gpus"])


def aliases() -> dict[str, str]:
    """Other names and the card each means: ``RTX 3060`` the 12 GB one, ``DGX Spark`` the GB10."""
    return dict(_catalogue()["aliases"])


@cache
def _catalogue() -> dict[str, Any]:
    path = Path(__file__).with_name("catalogue.json")
    catalogue: dict[str, Any] = json.loads(path.read_bytes())
    return catalogue


def _gpu(row: dict[str, Any]) -> Gpu:
    capability = row["compute_capability"]
    return Gpu(**{**row, "compute_capability": tuple(capability) if capability else None})
