"""How scripts name the card: ``torch.accelerator``, and a text that is asked what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from tests.unit.trainers.small_net import trained_on

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn
from torch.nn import functional as F
device = DEVICE
"""
SCRIPT += trained_on("torch.randint(1000, (8, 128))")
NAMED = "torch.accelerator.current_accelerator()"
OR_NONE = f'{NAMED}.type if torch.accelerator.is_available() else "cpu"'


@pytest.mark.parametrize("device", [NAMED, OR_NONE])
def test_the_accelerator_is_the_card(tmp_path: Path, device: str) -> None:
    plain = explained(tmp_path, SCRIPT.replace("DEVICE", "'cuda'"))
    found = explained(tmp_path, SCRIPT.replace("DEVICE", device))
    assert (found["trust"], found["peak"]) == ("read", plain["peak"])


def test_a_release_that_does_not_have_it(tmp_path: Path) -> None:
    script = SCRIPT.replace("DEVICE", OR_NONE)
    assert explained(tmp_path, script, "--torch-version", "2.5")["trust"] == "unknown"


ASKS = """
kind = "cuda"
peak = rated(torch.cuda.get_device_name(0)) if kind == "cuda" else 0.0
device = torch.device(kind)
def later(loss):
    return loss.item() / peak
"""
RATED = """
def rated(name):
    for each, value in {"a100": 312.0, "h100": 989.0}.items():
        if each in name.lower():
            return value
    return 0.0
"""


def test_what_is_asked_of_the_cards_name_is_no_matter(tmp_path: Path) -> None:
    plain = explained(tmp_path, SCRIPT.replace("DEVICE", "'cuda'"))
    script = SCRIPT.replace("device = DEVICE", f"{RATED}{ASKS}")
    found = explained(tmp_path, script)
    assert (found["trust"], found["peak"]) == ("read", plain["peak"])


@pytest.mark.parametrize(
    ("asked", "trust"),
    [('if kind != "cuda":\n        return 100.0', "read"), ("name = kind + name", "unknown")],
)
def test_a_function_that_is_told_the_device(tmp_path: Path, asked: str, trust: str) -> None:
    told = RATED.replace("rated(name):", f"rated(name, kind):\n    {asked}")
    asks = ASKS.replace("get_device_name(0))", "get_device_name(0), kind)")
    script = SCRIPT.replace("device = DEVICE", told + asks)
    assert explained(tmp_path, script)["trust"] == trust


def test_a_width_that_the_cards_name_decides_is_that_of_the_card(tmp_path: Path) -> None:
    script = SCRIPT.replace("device = DEVICE", f"{RATED}{ASKS}")
    wide = script.replace("nn.Linear(64,", "nn.Linear(64 if peak < 400 else 128,")
    found = explained(tmp_path, wide)
    assert found["trust"] == "read"
    assert found["peak"] == explained(tmp_path, SCRIPT.replace("DEVICE", "'cuda'"))["peak"]
