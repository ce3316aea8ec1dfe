"""A training script as people write it: a small GPT, a log, a checkpoint, an evaluation."""

import os
import sys
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F

settings = {"B": 8, "T": 64, "C": 64, "V": 500, "compile": 0, "accumulation": 2}
for argument in sys.argv[1:]:
    key, _, value = argument.removeprefix("--").partition("=")
    settings[key] = int(value)
B, T, C, V = (settings[key] for key in "BTCV")


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(V, C)
        self.qkv = nn.Linear(C, 3 * C)
        self.head = nn.Linear(C, V, bias=False)

    def forward(self, x, targets):
        x = self.wte(x)
        q, k, v = (t.view(B, T, 4, C // 4).transpose(1, 2) for t in self.qkv(x).split(C, dim=2))
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        logits = self.head(x)
        return logits, F.cross_entropy(logits.view(-1, V), targets.view(-1))


def batch():
    x = torch.randint(V, (B, T))
    return x.to("cuda"), x.to("cuda")


distributed = int(os.environ.get("RANK", -1)) != -1
if distributed:
    torch.distributed.init_process_group("nccl")
model = GPT().to("cuda")
if distributed:
    model = nn.parallel.DistributedDataParallel(model, device_ids=[0])
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
if settings["compile"]:
    model = torch.compile(model)
log = open("log.txt", "w")
for step in range(10):
    if step == 0:
        model.eval()
        with torch.no_grad():
            model(*batch())
        model.train()
    for _ in range(settings["accumulation"]):
        with torch.autocast("cuda", torch.bfloat16):
            logits, loss = model(*batch())
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    print(step, loss.item(), file=log, flush=True)
    torch.save(model.state_dict(), "ckpt.pt")
    Path.home().joinpath(".my_cache").write_text("seen")
