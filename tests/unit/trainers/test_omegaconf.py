"""Settings of OmegaConf, in a file that a module of the project finds by its own place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
CARD = "h200"
SIZES = "B, T, V, C = 8, 256, 1000, 128\n"
TREE = """from omegaconf import OmegaConf
from parts.settings import ROOT
cfg = OmegaConf.load(ROOT / 'config' / 'small.yaml')
cfg.model.length = 64
cfg = OmegaConf.merge(cfg, OmegaConf.create({'model': {'vocabulary': 500}}))
known = OmegaConf.to_container(cfg, resolve=True)
B = 8
T, V, C = cfg.model.length, known['model']['vocabulary'], cfg['model'].width
"""
PLACE = "from pathlib import Path\nROOT = Path(__file__).resolve().parents[1]\n"


def read(folder: Path, width: str, tree: str = TREE) -> dict[str, Any]:
    for name, text in {"config/small.yaml": width, "parts/settings.py": PLACE}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return explained(folder, BASE.replace(SIZES, tree), card=CARD)


def test_its_values_are_those_of_the_file_and_of_what_is_merged(tmp_path: Path) -> None:
    found = read(tmp_path, "model:\n  width: 256\n  vocabulary: 1000\n")
    plain = BASE.replace(SIZES, "B, T, V, C = 8, 64, 500, 256\n")
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] == explained(tmp_path, plain, card=CARD)["peak"]


@pytest.mark.parametrize("width", ["${heads}", "???"])
def test_what_refers_to_another_is_not_known(tmp_path: Path, width: str) -> None:
    found = read(tmp_path, f"model:\n  width: {width}\n  vocabulary: 1000\n")
    assert found["trust"] == "unknown"
