"""

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.harness import Bench
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path

from tests.unit.rules.gpu.test_compile_on_small_gpu import SMALL, tuned


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        (f"{SMALL}compile = True\n", f"{SMALL}compile = False\n"),
        (f"{SMALL}dtype = 'float16'\r\n", f"{SMALL}dtype = 'float16'\r\ncompile = False\r\n"),
        (
            f"{SMALL}compile  =  (\n  True\n)  # ja, übersetzen",
            f"{SMALL}compile  =  False  # ja, übersetzen",
        ),
        (f"compile = 1  # on\n{SMALL}", f"compile = False  # on\n{SMALL}"),
    ],
)
def test_fixed(tmp_path: Path, text: str, fixed: str) -> None:
    bench = tuned(tmp_path)
    assert bench.fixed(text) == text, "the fix is unsafe"
    assert bench.fixed(text, unsafe=True) == fixed


def test_silent_where_compile_is_only_the_default_of_train_py(tmp_path: Path) -> None:
    root = write_project(tmp_path)
    for name in ("train.py", "config/x.py"):
        path = root / name
        text = path.read_text() if path.exists() else SMALL
        assert Bench("NL201", gpu="rtx-4070", path=path).findings(text) == []


def test_no_fix_where_the_run_would_not_fit_uncompiled(tmp_path: Path) -> None:
    found = tuned(tmp_path).finding("batch_size = 64\nblock_size = 1024\n")
    assert found.fix is None
    assert found.notes[0] == "not fixed: with compile = False the run may not fit"


@pytest.mark.parametrize(
    "gpu", ["rtx-3080", "rtx-2080-ti", "v100-16gb", "a100-40gb", "gtx-1080-ti", "mi300x", "24GB"]
)
def test_not_reported(gpu: str) -> None:
    assert Bench("NL201", gpu=gpu).findings(f"{SMALL}compile = True\n") == []
