"""DDP in a process group of one, without a launcher: buckets, collectives and a barrier all the same."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29500", rank=0, world_size=1)
model = nn.Sequential(nn.Embedding(500, 256), nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 500))
model = nn.parallel.DistributedDataParallel(model.cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
dist.barrier()
for step in range(20):
    x = torch.randint(500, (4, 64), device="cuda")
    loss = F.cross_entropy(model(x).flatten(0, 1), x.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    mean = loss.detach().clone()
    dist.all_reduce(mean, async_op=True).wait()
    every = [torch.empty_like(mean)]
    dist.all_gather(every, mean)
