"""A class of settings that extends another one: which defaults a model gets from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.trainers.nanogpt.roles import defaults_of

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
from dataclasses import dataclass
{above}
class Small:
    n_layer: int = 12
    n_head: int = 4
{own}
class Deep(Small):
    n_layer: int = 24
class GPT:
    pass
"""


@pytest.mark.parametrize(
    ("above", "own", "layers"),
    [("@dataclass", "", 12), ("@dataclass", "@dataclass", 24), ("", "", 24)],
)
def test_a_class_without_the_decorator_keeps_the_values_of_the_dataclass(
    tmp_path: Path, above: str, own: str, layers: int
) -> None:
    (tmp_path / "model.py").write_text(TEXT.format(above=above, own=own), encoding="utf-8")
    script = tmp_path / "train.py"
    script.write_text("from model import GPT, Deep\n", encoding="utf-8")
    assert defaults_of(script, "model.GPT", "model.Deep")["n_layer"] == layers
