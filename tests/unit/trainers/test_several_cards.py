"""Cards by their numbers: one that the machine lacks, a second one, and ranks without any."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.support.explained import explained
from tests.support.project_tree import train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch
FIRST
model = torch.nn.Linear(64, 64).cuda(FIRST)
other = torch.nn.Linear(64, 64).to(SECOND)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    x = torch.randn(8, 64, device="cuda")
    other(model(x).to(SECOND)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
REFUSED = "the script raises RuntimeError: Device index value 1 is out of index range [0, 1)"
NAMES = ['"cuda:1"', "1", 'torch.device("cuda", 1)', 'f"cuda:{1}"']


def script(second: str, first: str = "") -> str:
    return SCRIPT.replace("\nFIRST", first).replace("SECOND", second).replace("FIRST", "")


@pytest.mark.parametrize("second", NAMES)
def test_two_cards_are_no_sum_without_a_doubt(tmp_path: Path, second: str) -> None:
    found = explained(tmp_path, script(second))
    assert found["trust"] == "doubted"
    assert len(found["doubts"]) == 1
    assert found["doubts"][0].startswith("tensors on cuda:0 and cuda:1 are counted as one card's")
    lacking = explained(tmp_path, script(second), card="1xa100-40gb")
    assert lacking["trust"] == "unknown"
    if second != NAMES[2]:  # PyTorch raises once a tensor is put there
        assert lacking["unresolved"][0]["reason"].startswith(REFUSED)


@pytest.mark.parametrize(
    ("second", "first"),
    [('"cuda"', ""), ('"cuda:0"', ""), ('"cuda:1"', "\ntorch.cuda.set_device(1)")],
)
def test_one_card_by_several_names_is_one(tmp_path: Path, second: str, first: str) -> None:
    assert explained(tmp_path, script(second, first))["trust"] == "read"


@pytest.mark.parametrize(
    ("count", "line", "stops"),
    [
        (4, "torchrun --standalone --nproc_per_node=8 train.py config/a.py", True),
        (4, "deepspeed --num_gpus=8 train.py config/a.py", True),
        (8, "torchrun --standalone --nproc_per_node=8 train.py config/a.py", False),
        (8, "torchrun --nnodes=2 --nproc_per_node=8 train.py config/a.py", False),
    ],
)
def test_ranks_without_a_card_stop_the_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, line: str, stops: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    write_project(tmp_path, {"train.py": train_script(), "config/a.py": "n_layer = 1\n"})
    gpu = f"{count}xa100-40gb"
    found = nanolint("launch", "--gpu", gpu, "--output-format=json", "--", *line.split())
    told = [each["message"] for each in json.loads(found.out)]
    assert any(each.endswith("ranks 4 to 7 find no card") for each in told) == stops
    assert found.status == 1 or not stops


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ("torchrun --nproc_per_node=8 train.py", "error"),
        ("accelerate launch --num_machines=1 --num_processes=8 train.py", "error"),
        ("srun --ntasks-per-node=8 python train.py", "error"),
        ("accelerate launch --num_processes=8 train.py", "warning"),
        ("mpirun -np 8 python train.py", "warning"),
        ("mpirun -np 4 python train.py", "warning"),  # none asks for its rank: all use one card
        ("mpirun -np 1 python train.py", ""),
    ],
)
def test_ranks_without_a_card_stop_any_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, severity: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(script('"cuda"'), encoding="utf-8")
    found = nanolint("launch", "--gpu=4xa100-40gb", "--output-format=json", "--", *line.split())
    severities = [each["severity"] for each in json.loads(found.out)]
    assert severities == [severity] * bool(severity)
    assert found.status == bool(severity)
