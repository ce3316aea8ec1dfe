"""The configs of a project as runs: those that are configs, and known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.settled import Options
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.config import config_runs
from nanolint.trainers.nanogpt.project import NANOGPT, find_project
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path

FILES: dict[str, str | bytes] = {
    "config/b.py": "batch_size = 3\nblock_size = 64\n",
    "config/a.py": "from config.b import *\nblock_size = 32\nn_layer = 2\n",
    "configs/c.py": "batch_size = 5\nblock_size = 16\n",
    "config/helper.py": "def f(): pass\n",
    "config/unknown.py": "batch_size = int(input())\nblock_size = 64\n",
    "config/broken.py": "batch_size = \n",
    "config/binary.py": b"\x00\x01",
}


def shapes(root: Path, options: Options) -> dict[str, tuple[int, int]]:
    project = find_project(root / "train.py")
    runs = config_runs(project, options)
    return {name: (run.batch_size, run.block_size) for name, run in runs}


def test_what_is_a_config_and_known(tmp_path: Path) -> None:
    root = write_project(tmp_path, FILES)
    found = shapes(root, Options())
    assert found == {"config/a.py": (3, 32), "config/b.py": (3, 64), "configs/c.py": (5, 16)}
    assert list(found) == sorted(found)


def test_overrides_count(tmp_path: Path) -> None:
    root = write_project(tmp_path, FILES)
    found = shapes(root, Options(overrides=(("batch_size", Known(7)),)))
    assert found["config/unknown.py"] == (7, 64)


def test_no_project_has_none() -> None:
    assert list(config_runs(NANOGPT, Options())) == []
