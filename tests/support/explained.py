"""What ``explain`` says of a script, as its machine-readable answer has it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.support.command import nanolint

if TYPE_CHECKING:
    from pathlib import Path


def explained(folder: Path, text: str, *words: str, card: str = "a100-40gb") -> dict[str, Any]:
    """``text`` as the train.py of ``folder``; of what cannot be explained the trust alone."""
    path = folder / "train.py"
    path.write_text(text, encoding="utf-8")
    done = nanolint("explain", str(path), "--gpu", card, "--format", "json", *words)
    found: dict[str, Any] = json.loads(done.out) if done.out else {"trust": "unknown"}
    return found
