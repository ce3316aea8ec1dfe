"""Optimizers that a project writes itself, on no class of torch's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from tests.unit.trainers.small_net import trained_on
from tests.unit.trainers.test_whole_forks import after

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
import torch
import torch.nn.functional as F
from torch import nn
device = "cuda"
class Adam:
    def __init__(self, params, lr=1e-3):
        self.params = list(params)
        self.lr, self.t = lr, 1
        self.means = [torch.zeros_like(p) for p in self.params]
        self.squares = [torch.zeros_like(p) for p in self.params]
DECORATED    def step(self):
        for p, m, v in zip(self.params, self.means, self.squares):
            if p.grad is None:
                continue
            m.mul_(0.9).add_(p.grad, alpha=0.1)
            v.mul_(0.99).addcmul_(p.grad, p.grad, value=0.01)
            scale = v.sqrt().div_((1 - 0.99 ** self.t) ** 0.5).add_(1e-8)
            p.data.addcdiv_(m, scale, value=-self.lr / (1 - 0.9 ** self.t))
        self.t += 1
    def zero_grad(self):
        for p in self.params:
            p.grad = None
"""
LOOP = trained_on("torch.randint(0, 1000, (16, 128))").replace("torch.optim.AdamW", "Adam")


ALLOCATED = 43_693_056  # bytes, by PyTorch 2.13


@pytest.mark.parametrize("decorator", ["", "    @torch.no_grad()\n"])
def test_an_optimizer_of_its_own_steps(tmp_path: Path, decorator: str) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.13\n")
    found = explained(tmp_path, HEAD.replace("DECORATED", decorator) + LOOP)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert (found["run"]["batch_size"], found["run"]["init_from"]) == (16, None)
    assert found["peak"]["allocated_bytes"] == ALLOCATED
    assert after(found, "optimizer") > 5 * 2 * 1000 * 64 * 4


def test_a_schedule_of_its_own_is_no_optimizer(tmp_path: Path) -> None:
    schedule = "class Schedule:\n    def step(self):\n        self.lr = 1\nschedule = Schedule()\n"
    loop = LOOP.replace("    optimizer.step()\n", "    schedule.step()\n")
    found = explained(tmp_path, HEAD.replace("DECORATED", "") + schedule + loop)
    assert found["trust"] == "unknown"
