"""Settings that pydantic makes objects of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from tests.unit.trainers.small_net import trained_on

if TYPE_CHECKING:
    from pathlib import Path

YAML = """
data: {batch_size: 16, lengths: [64, 128]}
model: {kind: plain}
"""
HEAD = """
from enum import Enum
import torch
import torch.nn.functional as F
import yaml
from pydantic import BaseModel, Field, field_validator
from torch import nn
class Kind(Enum):
    PLAIN = "plain"
class Data(BaseModel):
    batch_size: int = Field(4, gt=0)
    lengths: list[int] = []
class Model(BaseModel):
    kind: Kind
    width: "int" = 64
class Settings(BaseModel):
    data: Data
    model: Model | None = None
    device: str = "cuda"
with open("sizes.yaml") as f:
    settings = Settings(**yaml.safe_load(f))
device = settings.device
"""
LOOP = trained_on("torch.randint(0, 1000, (16, 128))")
USES = {
    "a nested value": "settings.data.batch_size",
    "a list": "settings.data.lengths[0] // 4",
    "an enumeration": "16 if settings.model.kind is Kind.PLAIN else 32",
    "a default": "settings.model.width // 4",
    "a dump": "settings.model_dump()['data']['batch_size']",
}


@pytest.mark.parametrize("use", USES)
def test_settings_of_a_file(tmp_path: Path, use: str) -> None:
    (tmp_path / "sizes.yaml").write_text(YAML)
    kept = "kept = torch.zeros({}, 1 << 20, device=device)\n"
    found = explained(tmp_path, HEAD + kept.format(USES[use]) + LOOP)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] == explained(tmp_path, HEAD + kept.format(16) + LOOP)["peak"]


def test_what_a_validator_makes_of_values_is_a_doubt(tmp_path: Path) -> None:
    (tmp_path / "sizes.yaml").write_text(YAML)
    check = """    @field_validator("batch_size")
    @classmethod
    def check(cls, value):
        return value * 2
    lengths"""
    found = explained(tmp_path, HEAD.replace("    lengths", check, 1) + LOOP)
    assert found["trust"] == "doubted"
    assert "Data.check does not change the value that it checks" in str(found["doubts"])
