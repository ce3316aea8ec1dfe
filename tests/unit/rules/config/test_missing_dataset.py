from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.harness import Bench
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = write_project(tmp_path, {"data/poems/prepare.py": "", "data/openwebtext/prepare.py": ""})
    return Bench("NL317", path=root / "config" / "x.py")


def test_reported(bench: Bench) -> None:
    assert "did you mean 'poems'?" in bench.finding("dataset = 'poem'\nbatch_size = 4\n").message
    assert "; there are 'openwebtext', 'poems'" in bench.finding("dataset = 'x1'\n").message


def test_a_project_without_data(tmp_path: Path) -> None:
    path = write_project(tmp_path) / "config" / "x.py"
    assert Bench("NL317", path=path).findings("dataset = 'poem'\n") == []
