"""Scripts that import the project's packages as they are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.run.described import Role
from tests.unit.trainers.written_scripts import MODEL, read

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch
from lessons.model import Net, Config
from lessons.sizes import B, T
model = Net(Config()).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(100):
    x = torch.randint(0, 512, (B, T), device="cuda")
    loss = model(x, x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
PROJECTS = {
    "pkg": '[tool.setuptools]\npackage-dir = {"" = "pkg"}\n',
    "lib": '[tool.setuptools.packages.find]\nwhere = ["lib"]\n',
    "src": "[project]\nname = 'lessons'\n",
}


@pytest.mark.parametrize("folder", PROJECTS)
def test_the_folder_is_what_the_project_says(tmp_path: Path, folder: str) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECTS[folder], encoding="utf-8")
    package = tmp_path / folder / "lessons"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "model.py").write_text(MODEL, encoding="utf-8")
    (package / "sizes.py").write_text("B, T = 8, 64\n", encoding="utf-8")
    chapter = tmp_path / "chapter"
    chapter.mkdir()
    found = read(SCRIPT, folder=chapter)
    assert [found.value(role) for role in (Role.MICRO_BATCH, Role.CONTEXT)] == [8, 64]


def test_a_pyproject_that_says_something_else_is_none(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("tool = 3\n[broken", encoding="utf-8")
    assert read(SCRIPT, folder=tmp_path).value(Role.MICRO_BATCH) is None
