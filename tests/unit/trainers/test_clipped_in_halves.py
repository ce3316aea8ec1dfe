"""Gradients that are measured first and clipped then, and what a script asks DDP for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
STEP = "    optimizer.step()"
WHOLE = "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
HALVES = """\
    norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])
    torch.nn.utils.clip_grads_with_norm_(model.parameters(), 1.0, norm)
    del norm
"""


def clipped(folder: Path, how: str) -> dict[str, object]:
    head, _, rest = BASE.rpartition(STEP)
    found = explained(folder, f"{head}{how}{STEP}{rest}")
    assert (found["trust"], found["doubts"]) == ("read", [])
    phases: dict[str, object] = {each["name"]: each["allocated_bytes"] for each in found["phases"]}
    return phases


def test_both_halves_take_what_the_whole_takes(tmp_path: Path) -> None:
    assert clipped(tmp_path, HALVES) == clipped(tmp_path, WHOLE)


ASKS = [
    "model.process_group is None or model.process_group",
    "model.device_ids == [0]",
    "model.broadcast_buffers",
    "not model.static_graph and not model.find_unused_parameters",
    "dist.get_world_size(model.process_group) == 2",
]


@pytest.mark.parametrize("asks", ASKS)
def test_ddp_says_what_it_was_given(tmp_path: Path, asks: str) -> None:
    made = "import torch.distributed as dist\ndist.init_process_group('nccl')\n"
    text = BASE.replace(
        "model = GPT().to(device)\n",
        f"{made}model = nn.parallel.DistributedDataParallel(GPT().to(device), device_ids=[0])\n"
        f"assert {asks}\n",
    )
    found = explained(tmp_path, text, "--world-size", "2")
    assert found["trust"] == "read"
