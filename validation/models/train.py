"""nanoGPT's training loop around any model: what is traced to see what a model allocates."""

import importlib
import json
import sys
from contextlib import nullcontext

import torch

spec = json.loads(sys.argv[1])
sys.path[:0] = spec["paths"]
sys.argv = sys.argv[:1]
module = importlib.import_module(spec["module"])
arguments = spec["arguments"]
model_class = getattr(module, spec["class"])
if spec["config"]:
    model = model_class(getattr(module, spec["config"])(**arguments))
else:
    model = model_class(**arguments)
device = "cuda"
model.to(device)
batch_size, block_size, vocab_size = spec["batch_size"], spec["block_size"], spec["vocab_size"]
passes, dtype, eval_iters = spec["passes"], spec["dtype"], 2
learning = {name: p for name, p in model.named_parameters() if p.requires_grad}
groups = [
    {"params": [p for p in learning.values() if p.dim() >= 2], "weight_decay": 0.1},
    {"params": [p for p in learning.values() if p.dim() < 2], "weight_decay": 0.0},
]
optimizer = torch.optim.AdamW(groups, lr=1e-4, betas=(0.9, 0.95), fused=True)
if spec["compile"]:
    model = torch.compile(model)
half = {"bfloat16": torch.bfloat16, "float16": torch.float16}.get(dtype)
ctx = nullcontext() if half is None else torch.amp.autocast(device_type="cuda", dtype=half)


def get_batch():
    x = torch.randint(vocab_size, (batch_size, block_size))
    y = torch.randint(vocab_size, (batch_size, block_size))
    x, y = (
        x.pin_memory().to(device, non_blocking=True),
        y.pin_memory().to(device, non_blocking=True),
    )
    return x, y


def parts(out):
    """What a loop keeps of a model's output: the first other tensor, if any, and the loss."""
    if torch.is_tensor(out):
        return None, out
    if isinstance(out, dict):
        out = tuple(out.values())
    values = list(out if isinstance(out, tuple | list) else vars(out).values())
    if len(values) > 1 and torch.is_tensor(values[1]) and values[1].dim() == 0:
        return values[0], values[1]
    loss = next(each for each in values if torch.is_tensor(each) and each.dim() == 0)
    return next((each for each in values if torch.is_tensor(each) and each.dim()), None), loss


@torch.no_grad()
def estimate_loss():
    model.eval()
    for split in ["train", "val"]:
        for k in range(eval_iters):
            X, Y = get_batch()
            with ctx:
                logits, loss = parts(model(X, Y))
            loss.item()
    model.train()


X, Y = get_batch()
estimate_loss()
for step in range(spec["steps"]):
    for micro_step in range(passes):
        with ctx:
            logits, loss = parts(model(X, Y))
            loss = loss / passes
        X, Y = get_batch()
        loss.backward()
    torch.nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
