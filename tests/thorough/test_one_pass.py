"""A script that goes backward once a step has no other micro-batch; its model may be small."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.command import nanolint
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path


def test_logits_that_are_kept_are_no_floor_under_every_micro_batch(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    text = TEXTS["loops: main guard args"].replace("default=8)", "default=80000)")
    path.write_text(text, encoding="utf-8")
    told = nanolint("--gpu", "rtx-4090", str(path)).out
    assert "NL101" in told and "NL414" not in told
    assert (
        "no smaller --batch-size keeps 20,480,000 tokens a step: the script makes one "
        "backward pass per step; --batch-size=1250 fits, with 320,000 tokens a step; no card "
        "in the "
        "catalogue is large enough"
    ) in " ".join(told.split())
