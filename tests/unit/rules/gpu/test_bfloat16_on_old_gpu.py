from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.harness import Bench
from tests.support.project_tree import train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

BENCH = Bench("NL203", gpu="t4")


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ('dtype = "bfloat16"\nbatch_size = 1\n', 'dtype = "float16"\nbatch_size = 1\n'),
        ("dtype='bfloat16' # ß\r\nbatch_size=1", "dtype='float16' # ß\r\nbatch_size=1"),
        ("batch_size = 1\n", "batch_size = 1\ndtype = 'float16'\n"),
        (
            "dtype = (\n    'bfloat'\n    '16'\n)\nbatch_size = 1\n",
            "dtype = 'float16'\nbatch_size = 1\n",
        ),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text) == text, "the fix is unsafe"
    assert BENCH.fixed(text, unsafe=True) == fixed


def test_an_inherited_value_is_shown_where_it_stands(tmp_path: Path) -> None:
    path = write_project(tmp_path, {"train.py": train_script()}) / "config" / "a.py"
    found = Bench("NL203", gpu="t4", path=path).finding("batch_size = 1\n")
    assert found.origin is not None
    assert found.origin.path is not None and found.origin.path.name == "train.py"
    assert found.origin.source.startswith("dtype = ")
    assert found.line.endswith(f"; set dtype = 'float16' (dtype: train.py:{found.origin.row})")


def test_autocast_of_an_old_release_raises() -> None:
    message = Bench("NL203", gpu="t4", torch=(2, 2)).finding("dtype = 'bfloat16'\n").message
    assert "autocast of torch 2.2 raises RuntimeError" in message


def test_pascal_fails_at_compiling_anyway() -> None:
    message = Bench("NL203", gpu="gtx-1080-ti").finding("batch_size = 1\n").message
    assert "torch.compile" not in message


@pytest.mark.parametrize("gpu", ["rtx-3060", "a100-40gb", "rtx-5090", "mi300x", "16GB"])
def test_newer_cards(gpu: str) -> None:
    assert Bench("NL203", gpu=gpu).findings("dtype = 'bfloat16'\nbatch_size = 1\n") == []


@pytest.mark.parametrize("setting", ["dtype = 'float16'", "dtype = 'float32'", "device = 'cpu'"])
def test_not_reported(setting: str) -> None:
    assert BENCH.findings(f"batch_size = 1\n{setting}\n") == []
