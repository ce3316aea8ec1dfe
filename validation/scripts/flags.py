"""A script with flags, fused AdamW, accumulation, an evaluation every so many steps."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=4)
parser.add_argument("--sequence-length", type=int, default=128)
parser.add_argument("--total-batch-size", type=int, default=2048)
parser.add_argument("--width", type=int, default=96)
parser.add_argument("--layers", type=int, default=2)
parser.add_argument("--eval-every", type=int, default=2)
parser.add_argument("--dropout", type=float, default=0.0)
args = parser.parse_args()
VOCABULARY = 1000


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = (each.view(B, T, self.heads, -1).transpose(1, 2) for each in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).contiguous().view(B, T, C))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, 4)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width),
            nn.GELU(approximate="tanh"),
            nn.Linear(4 * width, width),
            nn.Dropout(args.dropout),
        )

    def forward(self, x):
        x = x + self.attention(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, width)
        self.places = nn.Embedding(args.sequence_length, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(args.layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, idx, targets=None):
        x = self.tokens(idx) + self.places(torch.arange(idx.shape[1], device=idx.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def get_batch():
    data = torch.randint(VOCABULARY, (args.batch_size, args.sequence_length + 1))
    x, y = data[:, :-1].contiguous(), data[:, 1:].contiguous()
    return x.to(device), y.to(device)


device = "cuda"
model = Net(args.width)
model.to(device)
decay = [p for p in model.parameters() if p.dim() >= 2]
others = [p for p in model.parameters() if p.dim() < 2]
groups = [{"params": decay, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=3e-4, betas=(0.9, 0.95), fused=True)
passes = args.total_batch_size // (args.batch_size * args.sequence_length)

for step in range(20):
    if step % args.eval_every == 0:
        model.eval()
        with torch.no_grad():
            total = torch.zeros(1, device=device)
            for _ in range(2):
                x, y = get_batch()
                with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
                    _, loss = model(x, y)
                total += loss.detach()
        print(f"{step}: {total.item() / 2:.4f}")
        model.train()
    optimizer.zero_grad(set_to_none=True)
    summed = 0.0
    for micro_step in range(passes):
        x, y = get_batch()
        with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
            logits, loss = model(x, y)
        loss = loss / passes
        summed += loss.detach()
        loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for group in optimizer.param_groups:
        group["lr"] = 3e-4 * (1 - step / 20)
    optimizer.step()
    torch.cuda.synchronize()
    print(f"{step}: {summed.item():.4f}, norm {norm:.3f}")
