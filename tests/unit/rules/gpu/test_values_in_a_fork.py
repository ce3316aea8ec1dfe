"""What the GPU rules make of a train.py that is not quite nanoGPT's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.harness import Bench
from tests.support.project_tree import SETTINGS, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = "batch_size = 1\nblock_size = 64\n"


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


def test_an_assignment_under_a_condition_is_no_anchor() -> None:
    text = "batch_size = 1\nif True:\n    device = 'cuda'\nblock_size = 64\n"
    fixed = Bench("NL202", gpu="gtx-1080-ti").fixed(text)
    assert fixed == f"{text}compile = False\n"


def test_a_file_that_sets_nothing_by_itself() -> None:
    found = Bench("NL202", gpu="gtx-1080-ti").finding(
        "if True:\n    batch_size = 1\n    bias = 1\n"
    )
    assert found.notes == ("not fixed: the file sets no related key to put it next to",)


def test_a_conditional_default_may_become_a_value(tmp_path: Path) -> None:
    path = write_project(tmp_path) / "train.py"
    text = path.read_text(encoding="utf-8")
    fixed = Bench("NL203", gpu="t4", path=path).fixed(text, unsafe=True)
    assert "dtype = 'float16'\ncompile = True\n" in fixed
