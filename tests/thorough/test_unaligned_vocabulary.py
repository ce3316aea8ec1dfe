from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.harness import Bench
from tests.support.project_tree import SETUP, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    setup = SETUP.replace("50304 if letters is None else letters", "vocab_size")
    script = train_script(extra_settings="vocab_size = 50304\n", setup=setup)
    return Bench("NL316", path=write_project(tmp_path, {"train.py": script}) / "config" / "x.py")


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("vocab_size = 50257\n", "vocab_size = 50304\n"),
        ("vocab_size   = (30_000)  # größer\r\n", "vocab_size   = 30016  # größer\r\n"),
    ],
)
def test_fixed(bench: Bench, text: str, fixed: str) -> None:
    assert bench.fixed(text) == text, "the fix is unsafe"
    assert bench.fixed(text, unsafe=True) == fixed


@pytest.mark.parametrize(
    "text",
    ["vocab_size = 32000\n", "vocab_size = 65\n", "batch_size = 4\n", "vocab_size = input()\n"],
)
def test_not_reported(bench: Bench, text: str) -> None:
    assert bench.findings(text) == []
