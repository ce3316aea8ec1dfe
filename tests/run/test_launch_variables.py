"""Variables in front of a launch line that PyTorch reads: what they do is not replayed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_project(tmp_path, {"config/a.py": "batch_size = 4\ncompile = False\n"})
    monkeypatch.chdir(tmp_path)


def doubts(variable: str) -> list[str]:
    words = (variable, "python", "train.py", "config/a.py")
    outcome = nanolint("explain", "--gpu", "rtx-4070", "--format", "json", "--", *words)
    found: list[str] = json.loads(outcome.out)["doubts"]
    return found


@pytest.mark.parametrize(
    "variable",
    [
        "TORCHDYNAMO_DISABLE=1",
        "PYTORCH_NO_CUDA_MEMORY_CACHING=1",
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:64",
        "CUBLAS_WORKSPACE_CONFIG=:4096:8",
        "TORCHINDUCTOR_MAX_AUTOTUNE=$TUNE",
    ],
)
def test_what_one_changes_is_in_doubt(variable: str) -> None:
    name = variable.partition("=")[0]
    assert any(
        f"what PyTorch makes of {name} is not known" in str(each) for each in doubts(variable)
    )


@pytest.mark.parametrize(
    "variable",
    [
        "OMP_NUM_THREADS=1",
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        "TORCHINDUCTOR_CACHE_DIR=/scratch/inductor",
        "TORCH_NCCL_ASYNC_ERROR_HANDLING=1",
    ],
)
def test_what_none_of_it_depends_on_is_not(variable: str) -> None:
    assert doubts(variable) == []
