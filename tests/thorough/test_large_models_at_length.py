"""Models of many small modules, which are built before anything trains.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.trainers.test_large_models import LONG, MAIN, SCRIPT


def test_one_that_starts_what_trains_in_another_file_is_read(tmp_path: Path) -> None:
    """Although it is too long to be followed to there."""
    text = SCRIPT.replace("{layers}", "2")
    before, _, loop = text.partition("optimizer = ")
    steps = "\n    ".join(f"optimizer = {loop}".splitlines())
    heads = "import torch\nfrom torch.nn import functional as F\n"
    trainer = f"{heads}def train(model, B, T):\n    {steps}\n"
    (tmp_path / "trainer.py").write_text(trainer, encoding="utf-8")
    found = [explained(tmp_path, f"{before.replace('{more}', more)}{MAIN}") for more in (LONG, "")]
    assert [each["trust"] for each in found] == ["read", "read"]
    assert found[0]["peak"] == found[1]["peak"]
    assert (found[0]["run"]["batch_size"], found[0]["run"]["block_size"]) == (8, 64)
