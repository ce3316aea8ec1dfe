"""A key that a script reads anywhere is known, whether or not it has a default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.trainers.nanogpt.project import find_project
from tests.support.project_tree import CONFIGURATOR_LINE, SETTINGS

if TYPE_CHECKING:
    from pathlib import Path


def test_names_are_known_from_code_and_from_text(tmp_path: Path) -> None:
    rest = "if step > last_step:\n    print('prompt' in globals())\n"
    (tmp_path / "train.py").write_text(f"import torch\n{SETTINGS}{CONFIGURATOR_LINE}{rest}")
    (tmp_path / "sample.py").write_text(f"top_k = 1\n{CONFIGURATOR_LINE}\nprint(temperature)\n")
    (tmp_path / "other.py").write_text("print(nobody)\n")
    found = find_project(tmp_path / "config.py").names_read
    assert {"last_step", "prompt", "temperature"} <= found
    assert "nobody" not in found
