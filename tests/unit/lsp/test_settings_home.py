"""Which settings file another card is written into."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.files import door
from nanolint.lsp.settings_file import NotEditable, settings_edit
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path


def test_the_nearest_file_that_has_settings_is_meant(tmp_path: Path) -> None:
    root = write_project(
        tmp_path,
        {
            "pyproject.toml": '[tool.nanolint]\ngpu = "T4"\n',
            "config/pyproject.toml": '[project]\nname = "silent"\n',
            "runs/nanolint.toml": "ignore = []\n",
        },
    )
    above = settings_edit(root / "config" / "x.py", "A10")
    assert above.path == root / "pyproject.toml" and not above.is_new
    assert above.text[above.edit.start : above.edit.end] == '"T4"'
    beside = settings_edit(root / "runs" / "x.py", "A10")
    assert beside.path == root / "runs" / "nanolint.toml"


def test_without_settings_a_new_file_stands_beside_train_py(tmp_path: Path) -> None:
    root = write_project(tmp_path)
    found = settings_edit(root / "config" / "deep" / "x.py", "A10")
    assert (found.path, found.is_new) == (root / "nanolint.toml", True)
    assert found.edit.replacement == 'gpu = "A10"\n'


def test_without_train_py_it_stands_beside_the_config(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert settings_edit(tmp_path / "x.py", "A10").path == tmp_path / "nanolint.toml"


def test_the_text_that_an_editor_shows_wins_over_the_file(tmp_path: Path) -> None:
    root = write_project(tmp_path, {"nanolint.toml": 'gpu = "T4"\n'})
    door.show(root / "nanolint.toml", b'ignore = []\ngpu = "T4"\n')
    try:
        assert settings_edit(root / "x.py", "A10").edit.start == len("ignore = []\ngpu = ")
    finally:
        door.show(root / "nanolint.toml", None)


def test_settings_with_target_tables_are_left_alone(tmp_path: Path) -> None:
    root = write_project(tmp_path, {"nanolint.toml": 'gpu = "T4"\n[[target]]\ngpu = "T4"\n'})
    with pytest.raises(NotEditable):
        settings_edit(root / "x.py", "A10")
