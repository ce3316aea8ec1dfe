"""An optimizer whose states lie on several processes: reduce, update a share, gather."""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=4)
parser.add_argument("--waits", action="store_true")
parser.add_argument("--lists", action="store_true")
args = parser.parse_args()

T, VOCABULARY, WIDTH = 64, 512, 256
dist.init_process_group(backend="nccl")
rank, world = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device(rank)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(VOCABULARY, WIDTH)
        self.inner = nn.ModuleList([nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(5)])
        self.scale = nn.Parameter(torch.ones(WIDTH))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, idx, targets):
        x = self.wte(idx)
        for inner in self.inner:
            x = x + torch.tanh(inner(x)) * self.scale
        return F.cross_entropy(self.head(x).view(-1, VOCABULARY), targets.view(-1))


class Sharded(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))

    def reduce(self, p):
        if p.ndim == 1:
            return dist.all_reduce(p.grad, op=dist.ReduceOp.AVG, async_op=True), p.grad
        share = torch.empty_like(p.grad[: p.shape[0] // world])
        if args.lists:
            parts = list(p.grad.chunk(world))
            work = dist.reduce_scatter(share, parts, op=dist.ReduceOp.AVG, async_op=True)
        else:
            work = dist.reduce_scatter_tensor(share, p.grad, op=dist.ReduceOp.AVG, async_op=True)
        return work, share

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            sent = {p: self.reduce(p) for p in group["params"]}
            gathers = []
            for p in group["params"]:
                work, grad = sent.pop(p)
                if args.waits:
                    work.wait()
                else:
                    work.get_future().wait()
                state = self.state[p]
                rows = p.shape[0] // world
                mine = p if p.ndim == 1 else p[rank * rows : (rank + 1) * rows]
                if not state:
                    state["momentum"] = torch.zeros_like(mine)
                state["momentum"].lerp_(grad, 0.1)
                mine.add_(state["momentum"], alpha=-group["lr"])
                if p.ndim == 1:
                    continue
                if args.lists:
                    parts = list(p.chunk(world))
                    gathers.append(dist.all_gather(parts, mine, async_op=True))
                else:
                    gathers.append(dist.all_gather_into_tensor(p, mine, async_op=True))
                if not args.waits:
                    gathers[-1] = gathers[-1].get_future()
            for each in gathers:
                each.wait()


model = Net().cuda()
for p in model.parameters():
    dist.broadcast(p.detach(), src=0)
optimizer = Sharded(model.parameters())
dist.barrier()
x = torch.zeros((args.batch_size, T), dtype=torch.long, device="cuda")
for step in range(20):
    loss = model(x, x)
    loss.backward()
    optimizer.step()
    model.zero_grad(set_to_none=True)
    mean = loss.detach().clone()
    dist.reduce(mean, dst=0)
    if rank == 0:
        print(step, mean.item())
dist.destroy_process_group()
