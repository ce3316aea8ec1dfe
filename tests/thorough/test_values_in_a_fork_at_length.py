"""What the GPU rules make of a train.py that is not quite nanoGPT's.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.harness import Bench
from tests.support.project_tree import SETTINGS, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.rules.gpu.test_values_in_a_fork import CONFIG


@pytest.mark.parametrize(
    ("code", "key", "gpu"),
    [
        ("NL202", "compile", "gtx-1080-ti"),
        ("NL203", "dtype", "t4"),
    ],
)
def test_a_key_that_the_fork_dropped(code: str, key: str, gpu: str, tmp_path: Path) -> None:
    whole = write_project(tmp_path / "whole") / "config" / "x.py"
    assert Bench(code, gpu=gpu, path=whole).findings(CONFIG)
    settings = "".join(
        line for line in SETTINGS.splitlines(keepends=True) if not line.startswith(f"{key} =")
    )
    files: dict[str, str | bytes] = {"train.py": train_script(settings=settings)}
    fork = write_project(tmp_path / "fork", files) / "config" / "x.py"
    assert Bench(code, gpu=gpu, path=fork).findings(CONFIG) == []


def test_train_py_itself_is_fixed_above_its_configurator_line(tmp_path: Path) -> None:
    path = write_project(tmp_path) / "train.py"
    text = path.read_text(encoding="utf-8")
    bench = Bench("NL202", gpu="gtx-1080-ti", path=path)
    assert bench.fixed(text) == text, "every config inherits it"
    assert bench.fixed(text, unsafe=True) == text.replace("compile = True\n", "compile = False\n")


def test_a_conditional_default_may_become_a_value(tmp_path: Path) -> None:
    path = write_project(tmp_path) / "train.py"
    text = path.read_text(encoding="utf-8")
    fixed = Bench("NL203", gpu="t4", path=path).fixed(text, unsafe=True)
    assert "dtype = 'float16'\ncompile = True\n" in fixed
