"""DDP with its options: buckets of another size, gradients that lie in them, buffers, no_sync."""

import argparse
import os
from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=4)
parser.add_argument("--accumulation", type=int, default=2)
parser.add_argument("--views", action="store_true")
parser.add_argument("--cap", type=float, default=None)
parser.add_argument("--keep", action="store_true")
parser.add_argument("--batched", action="store_true")
parser.add_argument("--lazy", action="store_true")
args = parser.parse_args()

T, VOCABULARY = 64, 700
dist.init_process_group(backend="nccl")
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
rank, world = dist.get_rank(), dist.get_world_size()


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width, dtype=torch.bfloat16)
        self.register_buffer("scale", torch.ones(width))

    def forward(self, x):
        h = F.relu(self.up(self.norm(x)))
        return x + self.down(h.bfloat16()).float() * self.scale


class Net(nn.Module):
    def __init__(self, width=384, layers=2):
        super().__init__()
        self.wte = nn.Embedding(VOCABULARY, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(layers)])
        self.head = nn.Linear(width, VOCABULARY, bias=False)
        self.head.weight = self.wte.weight
        self.frozen = nn.Parameter(torch.ones(width), requires_grad=False)

    def forward(self, idx, targets):
        x = self.wte(idx) * self.frozen
        for block in self.blocks:
            x = block(x)
        logits = self.head(x)
        return F.cross_entropy(logits.view(-1, VOCABULARY), targets.view(-1))


model = Net().to(device)
options = {"gradient_as_bucket_view": args.views, "bucket_cap_mb": args.cap}
if args.batched:
    options["batched_grad_copy"] = True
if args.lazy:
    options["lazy_bucket_allocation"] = True
model = DDP(model, device_ids=[rank], **options)
learning = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.SGD(learning, lr=0.1, momentum=0.9, foreach=False)
x = torch.zeros((args.batch_size, T), dtype=torch.long, device=device)
for step in range(20):
    for micro_step in range(args.accumulation):
        last = micro_step == args.accumulation - 1
        with nullcontext() if last else model.no_sync():
            loss = model(x, x) / args.accumulation
            loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=not args.keep)
    dist.all_reduce(loss.detach(), op=dist.ReduceOp.AVG)
    if rank == 0:
        print(step, loss.item())
dist.destroy_process_group()
