"""Variables in front of a launch line that PyTorch reads: what they do is not replayed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.support.explained import explained
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
        f"the effect of {name} on PyTorch is not known" in str(each) for each in doubts(variable)
    )


TRAINING = """
import torch, os
BEFORE
model = torch.nn.Linear(64, 64).cuda()
AFTER
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    model(torch.randn(8, 64, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
NO_CACHE = "PYTORCH_NO_CUDA_MEMORY_CACHING"
DOTENV = "from dotenv import load_dotenv; load_dotenv()"


@pytest.mark.parametrize(
    ("before", "after", "doubted"),
    [
        (f'os.environ["{NO_CACHE}"] = "1"', "", NO_CACHE),
        (f'os.environ.setdefault("{NO_CACHE}", "1")', "", NO_CACHE),
        (f'os.environ.update({NO_CACHE}="1")', "", NO_CACHE),
        (f'os.environ |= {{"{NO_CACHE}": "1"}}', "", NO_CACHE),
        (f'os.putenv("{NO_CACHE}", "1")', "", NO_CACHE),
        ('os.environ["PYTORCH_HIP_ALLOC_CONF"] = "roundup_power2_divisions:2"', "", "PYTORCH_HIP"),
        (DOTENV, "", "PYTORCH_ALLOC_CONF"),
        ('os.environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:True"', "", ""),
        ("", f'os.environ["{NO_CACHE}"] = "1"', ""),  # the allocator has read it already
        ("", 'os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":16:8"', "CUBLAS_WORKSPACE_CONFIG"),
    ],
)
def test_what_a_script_sets_itself_counts_alike(
    tmp_path: Path, before: str, after: str, doubted: str
) -> None:
    (tmp_path / ".env").write_text("export PYTORCH_ALLOC_CONF=max_split_size_mb:64 # MiB\n")
    text = TRAINING.replace("BEFORE", before).replace("AFTER", after)
    found = explained(tmp_path, text)["doubts"]
    assert bool(found) == bool(doubted)
    assert all(doubted in each for each in found)


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
