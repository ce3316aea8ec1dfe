"""nanoGPT's training script in our own words: what lives on the card, and when.

The interpreter reads this text; nothing imports it. The values above the configurator's line are
those of a run. After https://github.com/karpathy/nanoGPT, copyright (c) 2022 Andrej Karpathy, which
has the same licence as nanolint.
"""

import inspect
import os

import torch
from torch.distributed import destroy_process_group, init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP

from model import GPT, GPTConfig

eval_interval = 2000
eval_iters = 200
eval_only = False
init_from = "scratch"
micro_steps = 40
batch_size = 12
block_size = 1024
n_layer = 12
n_head = 12
n_embd = 768
vocab_size = 50304
dropout = 0.0
bias = False
max_iters = 600000
grad_clip = 1.0
dtype = "bfloat16"
compile = True
attention = "flash"
exec(open("configurator.py").read())

device = "cuda"
ddp = int(os.environ.get("RANK", -1)) != -1
if ddp:
    init_process_group(backend="nccl")
    local_rank = int(os.environ["LOCAL_RANK"])
    device = f"cuda:{local_rank}"
torch.backends.cuda.matmul.allow_tf32 = True
types = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
ctx = torch.amp.autocast(device_type="cuda", dtype=types[dtype])
if attention == "math":  # as before torch 2.0
    del torch.nn.functional.scaled_dot_product_attention


def get_batch(split):
    x = torch.empty(batch_size, block_size, dtype=torch.int64, device=device)
    y = torch.empty(batch_size, block_size, dtype=torch.int64, device=device)
    return x, y


model_args = dict(
    n_layer=n_layer, n_head=n_head, n_embd=n_embd, block_size=block_size, bias=bias,
    vocab_size=vocab_size, dropout=dropout,
)  # fmt: skip
iter_num = 0
if init_from in ("scratch", "resume"):
    model = GPT(GPTConfig(**model_args))
else:
    model = GPT.from_pretrained(init_from, dict(dropout=dropout))
if block_size < model.config.block_size:
    model.crop_block_size(block_size)
has_fused = "fused" in inspect.signature(torch.optim.AdamW).parameters
extra = dict(fused=True) if has_fused else dict()
optimizer = torch.optim.AdamW(
    [
        {"params": [p for p in model.parameters() if p.dim() >= 2], "weight_decay": 0.1},
        {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0},
    ],
    lr=6e-4, betas=(0.9, 0.95), **extra,
)  # fmt: skip
if init_from == "resume":  # of these sizes; its weights stay a global
    state_dict = {
        name: torch.empty_like(each, device=device) for name, each in model.named_parameters()
    }
    optimizer.load_state_dict(open("ckpt.pt").read())  # what is in it is not asked
model.to(device)
scaler = torch.cuda.amp.GradScaler(enabled=(dtype == "float16"))
if compile:
    unoptimized_model = model
    model = torch.compile(model)
if ddp:
    model = DDP(model, device_ids=[local_rank])


@torch.no_grad()
def estimate_loss():
    out = {}
    model.eval()
    for split in ["train", "val"]:
        losses = torch.zeros(eval_iters)
        for k in range(eval_iters):
            X, Y = get_batch(split)
            with ctx:
                logits, loss = model(X, Y)
            losses[k] = loss.item()
        out[split] = losses.mean()
    model.train()
    return out


X, Y = get_batch("train")
while True:
    if iter_num == 0 or (eval_interval > 0 and iter_num % eval_interval == 0):
        losses = estimate_loss()
    if iter_num == 0 and eval_only:
        break
    for micro_step in range(micro_steps):
        if ddp:
            model.require_backward_grad_sync = micro_step == micro_steps - 1
        with ctx:
            logits, loss = model(X, Y)
            loss = loss / micro_steps
        X, Y = get_batch("train")
        scaler.scale(loss).backward()
    if grad_clip != 0.0:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    iter_num += 1
    if iter_num > max_iters:
        break
if ddp:
    destroy_process_group()
