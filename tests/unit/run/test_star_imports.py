"""Star imports between configs are followed, and never in circles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.settled import Layer, Options, Resolution
from nanolint.source.parse import parse
from nanolint.trainers.nanogpt.configurator import star_importer
from nanolint.trainers.nanogpt.kind import FileKind, classify, may_be_config
from nanolint.trainers.nanogpt.project import find_project
from nanolint.trainers.nanogpt.resolve import resolve
from tests.support.project_tree import write_project
from tests.unit.run.settling import before_reading

if TYPE_CHECKING:
    from pathlib import Path


def settle(root: Path, files: dict[str, str | bytes], name: str = "config/a.py") -> Resolution:
    write_project(root, files)
    path = root / name
    project = find_project(path)
    module = parse(path.read_text(), project.environment, star_importer(project, path))
    return before_reading(resolve(module, project, Options(), None, config_path=path))


BASE = "batch_size = 2\nblock_size = 256\n_private = 1\n"


def test_the_order_of_import_and_assignment_counts(tmp_path: Path) -> None:
    found = settle(
        tmp_path,
        {
            "config/base.py": BASE,
            "config/a.py": (
                "block_size = 1\nfrom config.base import *\nbatch_size = batch_size * 4\n"
            ),
        },
    )
    assert found.known("batch_size") == 8
    assert found.settings["batch_size"].origin.layer is Layer.FILE
    assert found.known("block_size") == 256
    assert found.settings["block_size"].origin.layer is Layer.IMPORT
    assert "_private" not in found.settings
    assert found.run is not None


def test_one_name_may_be_imported(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "config/base.py": BASE,
        "config/a.py": "from config.base import batch_size\nfrom nowhere import n_head\n",
    }
    found = settle(tmp_path, files)
    assert found.known("batch_size") == 2
    assert {unresolved.key for unresolved in found.unresolved} == {"n_head"}


def test_a_module_that_does_not_see_train_scripts_globals(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "config/base.py": "max_iters = batch_size\n",
        "config/a.py": "from config.base import *\n",
    }
    assert "max_iters" not in [each.key for each in settle(tmp_path, files).unresolved]
    value = settle(tmp_path, files).settings["max_iters"]
    assert value.origin.layer is Layer.IMPORT


def test_all_limits_what_is_imported(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "config/base.py": "__all__ = ['batch_size']\n" + BASE,
        "config/a.py": "from config.base import *\n",
    }
    found = settle(tmp_path, files)
    assert found.known("batch_size") == 2
    assert found.known("block_size") == 1024


def test_circles_and_missing_modules_leave_everything_open(tmp_path: Path) -> None:
    for base in (
        "from config.a import *\n",
        "from config.base import *\n",
        "from config.nowhere import *\n",
        "from .relative import *\n",
        "globals()['x'] = 1\n",
        "x = = 1\n",
    ):
        files: dict[str, str | bytes] = {
            "config/base.py": base,
            "config/a.py": "from config.base import *\nn_head = 6\n",
        }
        found = settle(tmp_path, files)
        assert found.run is None
        assert found.known("n_head") == 6


def test_a_ladder_of_imports_is_climbed_once(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        f"config/c{n}.py": f"from config.c{n + 1} import *\n" * 3 for n in range(12)
    }
    files["config/c12.py"] = BASE
    files["config/a.py"] = "from config.c0 import *\n"
    assert settle(tmp_path, files).known("batch_size") == 2


def test_a_tower_of_imports_ends(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        f"config/c{n}.py": f"from config.c{n + 1} import *\n" for n in range(100)
    }
    files["config/a.py"] = "from config.c0 import *\n"
    assert settle(tmp_path, files).run is None


def test_without_a_project_the_folders_above_are_searched(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "base.py").write_text(BASE)
    path = tmp_path / "config" / "a.py"
    project = find_project(path)
    module = parse("from config.base import *\n", {}, star_importer(project, path))
    assert resolve(module, project, Options(), None, config_path=path).known("batch_size") == 2


def test_a_config_may_set_its_keys_by_import(tmp_path: Path) -> None:
    text = "from config.base import *\n"
    path = write_project(tmp_path, {"config/base.py": BASE, "config/a.py": text}) / "config/a.py"
    project = find_project(path)
    module = parse(text, project.environment, star_importer(project, path))
    assert may_be_config(text, project.known_keys)
    assert classify(module, text, path, project, explicit=False) is FileKind.CONFIG
