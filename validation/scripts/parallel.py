"""Two processes under torchrun: DDP, gradients summed in the last pass alone, unfused Adam."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

B = 4
T = 64
ACCUMULATION = 3
VOCABULARY = 600

ddp = int(os.environ.get("RANK", -1)) != -1
if ddp:
    dist.init_process_group(backend="nccl")
    rank = int(os.environ["RANK"])
    local_rank = int(os.environ["LOCAL_RANK"])
    world = int(os.environ["WORLD_SIZE"])
    device = f"cuda:{local_rank}"
    torch.cuda.set_device(device)
else:
    rank, world, device = 0, 1, "cuda"


class Net(nn.Module):
    def __init__(self, width=80):
        super().__init__()
        self.wte = nn.Embedding(VOCABULARY, width)
        self.inner = nn.ModuleList([nn.Linear(width, width) for _ in range(3)])
        self.norms = nn.ModuleList([nn.LayerNorm(width, bias=False) for _ in range(3)])
        self.head = nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, idx, targets):
        x = self.wte(idx)
        for norm, inner in zip(self.norms, self.inner):
            x = x + F.gelu(inner(norm(x)))
        logits = self.head(x)
        return logits, F.cross_entropy(logits.view(-1, VOCABULARY), targets.view(-1))


class Loader:
    def __init__(self, B, T, rank, world):
        self.B, self.T, self.world = B, T, world
        self.tokens = torch.zeros(200_000, dtype=torch.long)
        self.place = B * T * rank

    def next_batch(self):
        B, T = self.B, self.T
        part = self.tokens[self.place : self.place + B * T + 1]
        x, y = part[:-1].view(B, T), part[1:].view(B, T)
        self.place += B * T * self.world
        if self.place + (B * T * self.world + 1) > len(self.tokens):
            self.place = 0
        return x, y


loader = Loader(B, T, rank, world)
torch.set_float32_matmul_precision("high")
model = Net()
model.to(device)
if ddp:
    model = DDP(model, device_ids=[local_rank])
raw = model.module if ddp else model
optimizer = torch.optim.Adam(raw.parameters(), lr=1e-3, weight_decay=0.01)
for step in range(50):
    optimizer.zero_grad()
    total = 0.0
    for micro_step in range(ACCUMULATION):
        x, y = loader.next_batch()
        x, y = x.to(device), y.to(device)
        if ddp:
            model.require_backward_grad_sync = micro_step == ACCUMULATION - 1
        with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
            logits, loss = model(x, y)
        loss = loss / ACCUMULATION
        total += loss.detach()
        loss.backward()
    if ddp:
        dist.all_reduce(total, op=dist.ReduceOp.AVG)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if rank == 0:
        print(f"{step} {total.item():.4f} {norm:.4f}")
if ddp:
    dist.destroy_process_group()
