"""DDP that looks for what is not used, or is told that the graph stays: outputs are copied."""

import argparse
import os
from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

parser = argparse.ArgumentParser()
parser.add_argument("--static", action="store_true")
parser.add_argument("--views", action="store_true")
parser.add_argument("--accumulation", type=int, default=2)
args = parser.parse_args()

B, T, VOCABULARY = 4, 64, 700
dist.init_process_group(backend="nccl")
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)


class Net(nn.Module):
    def __init__(self, width=384):
        super().__init__()
        self.wte = nn.Embedding(VOCABULARY, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, idx, targets):
        x = self.wte(idx)
        x = x + self.down(F.relu(self.up(x)))
        logits = self.head(x)
        return logits, F.cross_entropy(logits.view(-1, VOCABULARY), targets.view(-1))


model = Net().to(device)
how = {"static_graph": True} if args.static else {"find_unused_parameters": True}
model = DDP(model, device_ids=[dist.get_rank()], gradient_as_bucket_view=args.views, **how)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)
x = torch.zeros((B, T), dtype=torch.long, device=device)
for step in range(20):
    if step == 0:
        with torch.no_grad():
            print(model(x, x)[1].item())
    for micro_step in range(args.accumulation):
        last = micro_step == args.accumulation - 1
        with nullcontext() if last or args.static else model.no_sync():
            logits, loss = model(x, x)
            loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
dist.destroy_process_group()
