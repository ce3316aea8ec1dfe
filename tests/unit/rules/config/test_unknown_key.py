from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.harness import Bench
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench("NL301", path=write_project(tmp_path) / "config" / "x.py")


@pytest.mark.parametrize(
    "text", ["optimizer_kind = 'lion'\n", "batch_size = 4\nbatch_sze = 8\n", "batch_sz = a = 4\n"]
)
def test_reported_and_not_fixed(bench: Bench, text: str) -> None:
    assert all(each.fix is None for each in bench.findings(text))
    assert bench.findings(text)


def test_without_a_train_script_nothing_is_known() -> None:
    assert Bench("NL301").findings("batch_sze = 4\nlearning_rte = 1\n") == []
