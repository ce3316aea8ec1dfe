"""An optimizer whose step is compiled, and sends tensors to other processes beside what it does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.support.command import nanolint

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn
import torch.distributed as dist
from torch.nn import functional as F

B, T, V, C = 4, 64, 512, 256
dist.init_process_group(backend="nccl")
rank, world = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device(rank)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(V, C)
        self.inner = nn.ModuleList([nn.Linear(C, C, bias=False) for _ in range(5)])
        self.head = nn.Linear(C, V, bias=False)
    def forward(self, idx, targets):
        x = self.wte(idx)
        for inner in self.inner:
            x = x + torch.tanh(inner(x))
        return F.cross_entropy(self.head(x).view(-1, V), targets.view(-1))

class Sharded(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))
    @torch.compile
    @torch.no_grad()
    def step(self):
        sent, shares = [], []
        for group in self.param_groups:
            for p in group["params"]:
                share = torch.empty_like(p.grad[: p.shape[0] // world])
                work = dist.reduce_scatter_tensor(
                    share, p.grad, op=dist.ReduceOp.AVG, async_op=True
                )
                sent.append(work.get_future())
                shares.append(share)
        gathers, at = [], 0
        for group in self.param_groups:
            for p in group["params"]:
                sent[at].wait()
                rows = p.shape[0] // world
                mine = p[rank * rows : (rank + 1) * rows]
                state = self.state[p]
                if not state:
                    state["momentum"] = torch.zeros_like(mine)
                state["momentum"].lerp_(shares[at], 0.1)
                mine.add_(state["momentum"].sqrt(), alpha=-group["lr"])
                at += 1
                gathers.append(dist.all_gather_into_tensor(p, mine, async_op=True).get_future())
        torch.futures.collect_all(gathers).wait()

model = torch.compile(Net().cuda(), dynamic=False)
optimizer = Sharded(model.parameters())
x = torch.zeros((B, T), dtype=torch.long, device="cuda")
for step in range(20):
    loss = model(x, x)
    loss.backward()
    optimizer.step()
    model.zero_grad(set_to_none=True)
"""
LINE = "torchrun --standalone --nproc_per_node=4 train.py\n"


def explained(folder: Path, text: str) -> dict[str, Any]:
    (folder / "train.py").write_text(text, encoding="utf-8")
    (folder / "run.sh").write_text(LINE, encoding="utf-8")
    card = ("--isolated", "--gpu", "rtx-4090", "--torch-version", "2.9")
    done = nanolint("explain", str(folder / "run.sh"), *card, "--format", "json")
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_dynamo_leaves_a_loop_with_collectives_as_it_is(tmp_path: Path) -> None:
    compiled = explained(tmp_path, SCRIPT)
    assert (compiled["trust"], compiled["doubts"]) == ("read", [])
    # PyTorch 2.9.1, traced.
    assert compiled["peak"]["allocated_bytes"] == 26_872_832
    assert compiled["peak"]["reserved_bytes"] == 31_457_280
    plain = explained(tmp_path, SCRIPT.replace("    @torch.compile\n", ""))
    assert plain["peak"] == compiled["peak"]


def test_one_that_is_in_no_loop_is_not_known(tmp_path: Path) -> None:
    start, end = SCRIPT.index("        sent, shares"), SCRIPT.index("model = torch")
    one = """        first = self.param_groups[0]["params"][0]
        dist.all_reduce(first.grad, async_op=True).wait()

"""
    found = explained(tmp_path, SCRIPT[:start] + one + SCRIPT[end:])
    assert "a collective with async_op" in json.dumps(found)


def test_fit_counts_the_passes_of_one_process(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "run.sh").write_text(LINE, encoding="utf-8")
    shown = nanolint("fit", str(tmp_path / "run.sh"), "--isolated", "--gpu", "rtx-4090").out
    row = next(line.split() for line in shown.splitlines() if line.startswith("  RTX 4090"))
    assert row[4:6] == ["4*", "1"]
