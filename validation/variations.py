"""A small GPT's training script, and what people change in one: each may take other memory.

``record_variations.py`` has PyTorch run each; a test holds what is read to that.
"""

from __future__ import annotations

from validation import variations_compiled

SCRIPT = """\
import os, copy, types, gc
import torch, torch.nn as nn
from torch.nn import functional as F
B, T, V, C = 8, 256, 1000, 128
{top}
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln = nn.LayerNorm(C)
        self.qkv = nn.Linear(C, 3 * C)
        self.out = nn.Linear(C, C)
        self.up = nn.Linear(C, 4 * C)
        self.down = nn.Linear(4 * C, C)
    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.ln(x)).split(C, dim=2)
        q, k, v = (each.view(B, T, 4, C // 4).transpose(1, 2) for each in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(B, T, C))
        return x + self.down(F.gelu(self.up(x)))
class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(V, C)
        self.blocks = nn.ModuleList([Block() for _ in range(3)])
        self.head = nn.Linear(C, V, bias=False)
    def forward(self, idx, targets):
        x = self.wte(idx)
        for block in self.blocks:
            x = block(x)
        logits = self.head(x)
        return F.cross_entropy(logits.view(-1, V), targets.view(-1))
device = 'cuda'
{made}
{after}
{opt}
for it in range(9):
    x = torch.randint(V, (B, T)).to(device)
    y = torch.randint(V, (B, T)).to(device)
{body}
"""

PARTS = {
    "top": "",
    "made": "model = GPT().to(device)",
    "after": "",
    "opt": "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)",
    "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()""",
}
# The parts that each replaces.
VARIATIONS: dict[str, dict[str, str]] = {
    "base": {},
    "flash off": {
        "top": "torch.backends.cuda.enable_flash_sdp(False)",
    },
    "math alone": {
        "top": """\
torch.backends.cuda.enable_flash_sdp(False)
torch.backends.cuda.enable_mem_efficient_sdp(False)
torch.backends.cuda.enable_cudnn_sdp(False)""",
    },
    "sdp kernel": {
        "top": "from torch.backends.cuda import sdp_kernel",
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16), sdp_kernel(False, True, False):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()""",
    },
    "sdpa kernel": {
        "top": "from torch.nn.attention import sdpa_kernel, SDPBackend",
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16), sdpa_kernel(SDPBackend.MATH):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()""",
    },
    "default float64": {
        "top": "torch.set_default_dtype(torch.float64)",
    },
    "default bfloat16": {
        "top": "torch.set_default_dtype(torch.bfloat16)",
    },
    "default device": {
        "top": "torch.set_default_device('cuda')",
        "made": "model = GPT()",
    },
    "default tensor type": {
        "top": "torch.set_default_tensor_type(torch.cuda.HalfTensor)",
        "made": "model = GPT()",
    },
    "with device": {
        "made": """\
with torch.device('cuda'):
    model = GPT()""",
    },
    "deterministic": {
        "top": "torch.use_deterministic_algorithms(True, warn_only=True)",
    },
    "bf16 model": {
        "after": "model.bfloat16()",
    },
    "to bf16": {
        "after": "model = model.to(torch.bfloat16)",
    },
    "double": {
        "after": "model.double()",
    },
    "anomaly": {
        "top": "torch.autograd.set_detect_anomaly(True)",
    },
    "hook after accumulation": {
        "after": """\
for p in model.parameters():
    p.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None))""",
    },
    "grad hook": {
        "after": """\
for p in model.parameters():
    p.register_hook(lambda g: g * 0.5)""",
    },
    "forward hook": {
        "after": """\
kept = []
model.blocks[0].register_forward_hook(lambda m, i, o: kept.append(o))""",
    },
    "save on cpu": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        with torch.autograd.graph.save_on_cpu():
            loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()""",
    },
    "retain": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward(retain_graph=True)
    optimizer.step()""",
    },
    "empty cache": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    torch.cuda.empty_cache()""",
    },
    "alloc conf": {
        "top": 'os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"',
    },
    "alloc conf split": {
        "top": 'os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "max_split_size_mb:32"',
    },
    "fraction": {
        "top": "torch.cuda.set_per_process_memory_fraction(0.5)",
    },
    "stream": {
        "body": """\
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        with torch.autocast('cuda', dtype=torch.bfloat16):
            loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()""",
    },
    "ema": {
        "after": "ema = copy.deepcopy(model)",
    },
    "keep zero": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()""",
    },
    "patch sdpa": {
        "top": """\
def attn(q, k, v, is_causal=False):
    w = (q @ k.transpose(-2, -1)).softmax(-1)
    return w @ v
F.scaled_dot_product_attention = attn""",
    },
    "patch linear": {
        "top": """\
def fwd(self, x):
    if self.bias is None:
        return F.linear(x.float(), self.weight.float())
    return F.linear(x * 1.0, self.weight, self.bias)
nn.Linear.forward = fwd""",
    },
    "patch method": {
        "after": """\
def fwd(self, idx, targets):
    x = self.wte(idx) * 2
    return F.cross_entropy(self.head(x).view(-1, V).float(), targets.view(-1))
model.forward = types.MethodType(fwd, model)""",
    },
    "frozen": {
        "after": """\
for p in model.blocks[0].parameters():
    p.requires_grad = False""",
    },
    "requires grad ": {
        "after": "model.wte.requires_grad_(False)",
    },
    "sgd": {
        "opt": "optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)",
    },
    "rmsprop": {
        "opt": "optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)",
    },
    "adagrad": {
        "opt": "optimizer = torch.optim.Adagrad(model.parameters(), lr=1e-3)",
    },
    "adamax": {
        "opt": "optimizer = torch.optim.Adamax(model.parameters(), lr=1e-3)",
    },
    "nadam": {
        "opt": "optimizer = torch.optim.NAdam(model.parameters(), lr=1e-3)",
    },
    "amsgrad": {
        "opt": "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, amsgrad=True)",
    },
    "adamw nofor": {
        "opt": "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)",
    },
    "adamw fused": {
        "opt": "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)",
    },
    "adamw capt": {
        "opt": "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, capturable=True)",
    },
    "adamw max": {
        "opt": "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, maximize=True)",
    },
    "adam": {
        "opt": "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)",
    },
    "adam wd": {
        "opt": "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=0.1)",
    },
    "muon": {
        "opt": """\
matrices = [p for p in model.blocks.parameters() if p.ndim == 2]
optimizer = torch.optim.Muon(matrices, lr=1e-3)""",
    },
    "lbfgs": {
        "opt": "optimizer = torch.optim.LBFGS(model.parameters(), lr=1e-3)",
        "body": """\
    def closure():
        optimizer.zero_grad()
        loss = model(x, y)
        loss.backward()
        return loss
    optimizer.step(closure)""",
    },
    "adafactor": {
        "opt": "optimizer = torch.optim.Adafactor(model.parameters(), lr=1e-3)",
    },
    "clip": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()""",
    },
    "clip noforeach": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)
    optimizer.step()""",
    },
    "clip value": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()""",
    },
    "losslist": {
        "after": "losses = []",
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    losses.append(loss)""",
    },
    "lossdetach": {
        "after": "losses = []",
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    losses.append(loss.detach())""",
    },
    "lossitem": {
        "after": "losses = []",
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())""",
    },
    "losstotal": {
        "after": "total = 0",
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    total += loss""",
    },
    "fp16scaler": {
        "after": "scaler = torch.amp.GradScaler('cuda')",
        "body": """\
    with torch.autocast('cuda', dtype=torch.float16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()""",
    },
    "autocast nocache": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16, cache_enabled=False):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()""",
    },
    "grad false stmt": {
        "after": """\
torch.set_grad_enabled(False)
torch.set_grad_enabled(True)""",
    },
    "weight norm": {
        "after": "torch.nn.utils.parametrizations.weight_norm(model.head)",
    },
    "dataparallel": {
        "after": "model = nn.DataParallel(model)",
    },
    "scheduler": {
        "after": "",
        "opt": """\
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)""",
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    sched.step()""",
    },
    "lambda lr": {
        "opt": """\
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 1.0)""",
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    sched.step()""",
    },
    "averaged": {
        "after": """\
from torch.optim.swa_utils import AveragedModel
swa = AveragedModel(model)""",
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    swa.update_parameters(model)""",
    },
    "ema manual": {
        "after": "shadow = {n: p.detach().clone() for n, p in model.named_parameters()}",
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    for n, p in model.named_parameters():
        shadow[n].mul_(0.9).add_(p.detach(), alpha=0.1)""",
    },
    "grad norms": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norms = [p.grad.norm().item() for p in model.parameters()]
    optimizer.step()""",
    },
    "state dict cpu": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if it % 2 == 0:
        best = {k: v.clone() for k, v in model.state_dict().items()}""",
    },
    "deepcopy state": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    best = copy.deepcopy(model.state_dict())""",
    },
    "x kept": {
        "after": "seen = []",
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    seen.append(x)""",
    },
    "global dtype param": {
        "after": "model.head.weight.data = model.head.weight.data.to(torch.bfloat16)",
    },
    "tie": {
        "after": "model.head.weight = model.wte.weight",
    },
    "del loss": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    del loss
    optimizer.step()""",
    },
    "grad accum": {
        "body": """\
    optimizer.zero_grad(set_to_none=True)
    for micro in range(4):
        x = torch.randint(V, (B, T), device=device)
        with torch.autocast('cuda', dtype=torch.bfloat16):
            loss = model(x, x) / 4
        loss.backward()
    optimizer.step()""",
    },
    "backward in autocast": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss.backward()
    optimizer.step()""",
    },
    "torch func": {
        "body": """\
    params = dict(model.named_parameters())
    loss = torch.func.functional_call(model, params, (x, y))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()""",
    },
    "autograd grad": {
        "body": """\
    loss = model(x, y)
    grads = torch.autograd.grad(loss, list(model.parameters()))
    for p, g in zip(model.parameters(), grads):
        p.grad = g
    optimizer.step()""",
    },
    "create graph": {
        "body": """\
    loss = model(x, y)
    grads = torch.autograd.grad(loss, list(model.parameters()), create_graph=True)
    pen = sum(g.pow(2).sum() for g in grads)
    optimizer.zero_grad(set_to_none=True)
    (loss + pen).backward()
    optimizer.step()""",
    },
    "compiled": {
        "made": "model = torch.compile(GPT().to(device))",
    },
    "compiled flash off": {
        "top": "torch.backends.cuda.enable_flash_sdp(False)",
        "made": "model = torch.compile(GPT().to(device))",
    },
    "compiled bfloat16": {
        "made": "model = torch.compile(GPT().to(device).to(torch.bfloat16))",
    },
    "compiled frozen": {
        "made": """\
model = GPT().to(device)
model.wte.requires_grad_(False)
model = torch.compile(model)""",
    },
    "compiled by method": {
        "after": "model.compile()",
    },
    "compiled no autocast": {
        "made": "model = torch.compile(GPT().to(device))",
        "body": """\
    loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()""",
    },
    "compiled blocks": {
        "after": """\
for i, block in enumerate(model.blocks):
    model.blocks[i] = torch.compile(block)""",
    },
    "compiled twice called": {
        "made": "model = torch.compile(GPT().to(device))",
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y) + model(y, x)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()""",
    },
    "compiled float16": {
        "made": "model = torch.compile(GPT().to(device))",
        "body": """\
    with torch.autocast('cuda', dtype=torch.float16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()""",
    },
    "no autocast": {
        "body": """\
    loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()""",
    },
    "old autocast": {
        "body": """\
    with torch.cuda.amp.autocast():
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()""",
    },
    "validation with gradients": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    validation = model(y, x)""",
    },
    "validation kept": {
        "after": "kept = []",
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        kept.append(model(y, x))""",
    },
    "weights cloned": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    before = [p.clone() for p in model.parameters()]""",
    },
    "gradients cloned": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    before = [p.grad.clone() for p in model.parameters()]""",
    },
    "gradients flat": {
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    flat = torch.cat([p.grad.view(-1) for p in model.parameters()])""",
    },
    "two optimizers": {
        "opt": """\
matrices = [p for p in model.parameters() if p.ndim == 2]
others = [p for p in model.parameters() if p.ndim < 2]
optimizer = torch.optim.AdamW(matrices, lr=1e-3)
other = torch.optim.SGD(others, lr=1e-3, momentum=0.9)""",
        "body": """\
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    other.step()""",
    },
    "groups": {
        "opt": """\
groups = [{'params': [p for p in model.parameters() if p.ndim == 2], 'weight_decay': 0.1},
          {'params': [p for p in model.parameters() if p.ndim < 2], 'weight_decay': 0.0}]
optimizer = torch.optim.AdamW(groups, lr=1e-3)""",
    },
    "dataset": {
        "after": """\
from torch.utils.data import DataLoader, TensorDataset
data = torch.randint(V, (64, T + 1))
loader = DataLoader(TensorDataset(data[:, :-1], data[:, 1:]), batch_size=B, shuffle=True)
rows = iter(loader)""",
        "body": """\
    x, y = next(rows)
    x, y = x.to(device), y.to(device)
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()""",
    },
    "transformer layer": {
        "after": """\
class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(V, C)
        layer = nn.TransformerEncoderLayer(C, 4, 4 * C, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(C, V)
    def forward(self, idx, targets):
        mask = nn.Transformer.generate_square_subsequent_mask(T, device=idx.device)
        x = self.layers(self.wte(idx), mask=mask, is_causal=True)
        return F.cross_entropy(self.head(x).view(-1, V), targets.view(-1))
model = Other().to(device)""",
    },
    "multihead attention": {
        "after": """\
class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(V, C)
        self.attention = nn.MultiheadAttention(C, 4, batch_first=True)
        self.head = nn.Linear(C, V)
    def forward(self, idx, targets):
        x = self.wte(idx)
        mask = torch.triu(torch.ones(T, T, device=idx.device), 1).bool()
        x = x + self.attention(x, x, x, attn_mask=mask, need_weights=False)[0]
        return F.cross_entropy(self.head(x).view(-1, V), targets.view(-1))
model = Other().to(device)""",
    },
    "lstm": {
        "after": """\
class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(V, C)
        self.rnn = nn.LSTM(C, C, 2, batch_first=True)
        self.head = nn.Linear(C, V)
    def forward(self, idx, targets):
        x, _ = self.rnn(self.wte(idx))
        return F.cross_entropy(self.head(x).view(-1, V), targets.view(-1))
model = Other().to(device)""",
    },
    "checkpointed": {
        "top": "from torch.utils.checkpoint import checkpoint",
        "after": """\
def forward(self, idx, targets):
    x = self.wte(idx)
    for block in self.blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return F.cross_entropy(self.head(x).view(-1, V), targets.view(-1))
GPT.forward = forward""",
    },
    "labels smoothed": {
        "after": """\
def forward(self, idx, targets):
    x = self.wte(idx)
    for block in self.blocks:
        x = block(x)
    logits = self.head(x).float()
    return F.cross_entropy(logits.view(-1, V), targets.view(-1), label_smoothing=0.1)
GPT.forward = forward""",
    },
    "loss by hand": {
        "after": """\
def forward(self, idx, targets):
    x = self.wte(idx)
    for block in self.blocks:
        x = block(x)
    logs = F.log_softmax(self.head(x), dim=-1)
    return -logs.gather(-1, targets.unsqueeze(-1)).squeeze(-1).mean()
GPT.forward = forward""",
    },
    "losses each": {
        "after": """\
def forward(self, idx, targets):
    x = self.wte(idx)
    for block in self.blocks:
        x = block(x)
    each = F.cross_entropy(self.head(x).view(-1, V), targets.view(-1), reduction='none')
    return (each * (targets.view(-1) > 0)).sum() / (targets > 0).sum()
GPT.forward = forward""",
    },
    "sparse embedding": {
        "after": "model.wte = nn.Embedding(V, C, sparse=True).to(device)",
    },
    "dropout": {
        "after": """\
def forward(self, idx, targets):
    x = F.dropout(self.wte(idx), 0.1, training=self.training)
    for block in self.blocks:
        x = block(x)
    return F.cross_entropy(self.head(x).view(-1, V), targets.view(-1))
GPT.forward = forward""",
    },
    **{
        name: {"made": variations_compiled.COMPILED, **parts}
        for name, parts in variations_compiled.VARIATIONS.items()
    },
}


def text_of(name: str) -> str:
    """The script of a variation."""
    return SCRIPT.format(**{**PARTS, **VARIATIONS[name]})
