"""Settings in a tree of yacs: set by attributes, in files, and merged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
CARD = "h200"
SIZES = "B, T, V, C = 8, 256, 1000, 128\n"
TREE = """from yacs.config import CfgNode as CN
cfg = CN()
cfg.MODEL = CN({'WIDTH': 64, 'VOCABULARY': 1000})
cfg.MODEL.LENGTH = 128
cfg.merge_from_file('small.yaml')
cfg.merge_from_list(['MODEL.LENGTH', 64])
cfg = cfg.clone()
cfg.freeze()
B = 8
T, V, C = cfg.MODEL.LENGTH, cfg.MODEL.VOCABULARY, cfg.MODEL.WIDTH
"""


def test_its_values_are_those_that_were_set_last(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text("MODEL:\n  WIDTH: 256\n", encoding="utf-8")
    assert SIZES in BASE
    found = explained(tmp_path, BASE.replace(SIZES, TREE), card=CARD)
    plain = BASE.replace(SIZES, "B, T, V, C = 8, 64, 1000, 256\n")
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] == explained(tmp_path, plain, card=CARD)["peak"]
