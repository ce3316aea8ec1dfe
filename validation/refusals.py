"""Lines that PyTorch or Python refuses, each in a small script that trains, and what they raise.

    python validation/refusals.py --python PYTHON    # one with torch; writes recorded/refusals.json

The script runs on the host, where PyTorch checks as on a card. A row keeps the class and the
first line of the words; ``runs`` rows raise nothing, and a finding there would be false.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path

WRITTEN = Path(__file__).with_name("recorded") / "refusals.json"
BASE = """import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, SequentialSampler

net = nn.Sequential(nn.Embedding(96, 32), nn.Linear(32, 96)).to("cuda")
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
{above}
for step in range(20):
    x = torch.randint(96, (4, 9), device="cuda")
    h = net[0](x)
    loss = F.cross_entropy(net(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
{inside}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
ABOVE = "# before the loop"
Q = "q = torch.zeros(1, 6, 8, 16, device='cuda')"
INSIDE = {
    # Products.
    "linear width": "F.linear(h, torch.zeros(5, 31, device='cuda'))",
    "linear type": "net[1](h.bfloat16())",
    "mm sizes": "h[0] @ h[1]",
    "mm fits": "h[0] @ h[1].T",
    "bmm sizes": "torch.bmm(h, h)",
    "bmm batches": "torch.bmm(h, h[:3].transpose(1, 2))",
    "matmul batches broadcast": "h @ h[:1].transpose(1, 2)",
    "matmul batches": "h[None] @ h[:3].transpose(1, 2)",
    "vector": "h[0] @ torch.zeros(5, device='cuda')",
    "bias": "F.linear(h, torch.zeros(5, 32, device='cuda'), torch.zeros(4, device='cuda'))",
    "addmm bias": "torch.addmm(torch.zeros(7, device='cuda'), h[0], h[0].T)",
    "types of numbers": "torch.tensor([2, 0.5], device='cuda') @ torch.tensor([1, 2],"
    " device='cuda')",
    "numbers of two types": "torch.tensor([2, 0.5], device='cuda') @ h[0, 0, :2]",
    "matmul types": "h @ h.double().transpose(1, 2)",
    # Elements.
    "add sizes": "h + torch.zeros(31, device='cuda')",
    "mul sizes": "h * h[:3]",
    "add types": "h + x[..., None]",
    "in place sizes": "y = x[0].clone(); y += x",
    "mean of whole numbers": "x.mean(-1)",
    "mean as fractions": "x.mean(dtype=torch.float32)",
    "variance of whole numbers": "x.var()",
    "softmax of whole numbers": "x.softmax(-1)",
    "softmax as fractions, by place": "x.softmax(-1, torch.float32)",
    "softmax as fractions": "F.softmax(x, -1, dtype=torch.float32)",
    "sigmoid of whole numbers": "x.sigmoid()",
    "activation of whole numbers": "F.gelu(x)",
    "norm of whole numbers": "F.layer_norm(x, (9,))",
    "copied sizes": "y = x[0].clone(); y.copy_(x[0, :4])",
    "copied dimensions": "y = x[0].clone(); y.copy_(x[:1])",
    "copied over": "y = x.clone(); y.copy_(x[0])",
    "put sizes": "y = x.clone(); y[:, :4] = x[:, :5]",
    "put dimensions": "y = x.clone(); y[0] = x",
    "put fits": "y = x.clone(); y[0] = x[None, None, 1]",
    "put at places": "y = x.clone(); y[[0, 2]] = x[:3]",
    "misspelt on the host": "y = torch.zeros(3); y[0] = loss.item(); y.mea()",
    "put at a place": "y = torch.zeros(3); y[4] = loss.item()",
    "in place type": "y = x.clone(); y += 0.5",
    "in place division": "y = x.clone(); y /= 2",
    "in place on a leaf": "net[1].weight += 1",
    "in place without gradients": "with torch.no_grad(): net[1].bias += 1",
    "where": "torch.where(x, x, x)",
    "masked_fill": "h.masked_fill(x[..., None], 0.0)",
    "masked_fill sizes": "h.masked_fill(x > 3, 0.0)",
    # Views.
    "view": "h.transpose(1, 2).view(4, -1)",
    "view of too many": "h.view(5, -1)",
    "reshape of a transpose": "h.transpose(1, 2).reshape(4, -1)",
    "reshape": "h.reshape(5, 7)",
    "two unknown": "h.reshape(-1, -1)",
    "permute": "h.permute(0, 2)",
    "transpose": "h.transpose(1, 3)",
    "transpose from behind": "h.transpose(-1, -3)",
    "expand": "x.expand(4, 10)",
    "expand from one": "x[:1].expand(4, 9)",
    "split": "x.split([4, 4], dim=1)",
    "unpack a split": "a, b = x.split(4, dim=1)",
    "chunk": "a, b, c = x.chunk(3, dim=1)",
    "cat": "torch.cat([x, x[:, :3]])",
    "cat along": "torch.cat([x, x[:, :3]], dim=1)",
    "cat dimensions": "torch.cat([x, x[0]])",
    "stack": "torch.stack([x[0], x[0, :3]])",
    "squeeze": "h.squeeze(3)",
    "unsqueeze": "h.unsqueeze(4)",
    # Indices.
    "row": "x[4]",
    "row from behind": "x[-4]",
    "column": "x[:, 9]",
    "dimensions": "x[0, 0, 0]",
    "number": "loss[0]",
    "gather type": "x.gather(1, x.float())",
    "embedding of fractions": "net[0](x.float())",
    "embedding of small numbers": "net[0](x.to(torch.int16))",
    "embedding of int32": "net[0](x.int())",
    "a row of a table": "net[0](torch.arange(97, device='cuda'))",
    "the last row of a table": "net[0](torch.arange(90, 96, device='cuda'))",
    "numbers by chance": "net[0](torch.randint(9000, (64, 64), device='cuda'))",
    "one number by chance": "torch.manual_seed(0); net[0](torch.randint(100, (1,),"
    " device='cuda').expand(4096))",
    "ignored by chance": "F.cross_entropy(torch.zeros(4096, 9, device='cuda'), torch.randint(10,"
    " (4096,), device='cuda'), ignore_index=9)",
    "ignored by place": "F.cross_entropy(torch.zeros(4096, 9, device='cuda'), torch.randint(10,"
    " (4096,), device='cuda'), None, None, 9)",
    "shift by alpha": "net[0](torch.add(torch.arange(96, device='cuda'), 4, alpha=0))",
    "an index": "h[0][torch.arange(1, 10, device='cuda')]",
    "an index that was changed": "y = torch.arange(97, device='cuda'); y %= 96; net[0](y)",
    "a part of a table's rows": "net[0](torch.arange(99, device='cuda')[None, :96])",
    "class beyond": "F.cross_entropy(net(x).flatten(0, 1), torch.full((36,), 96, device='cuda'))",
    "class to ignore": "F.cross_entropy(net(x).flatten(0, 1),"
    " torch.full((36,), -100, device='cuda'))",
    # Norms, attention, losses.
    "layer_norm": "F.layer_norm(h, (31,))",
    "layer_norm of two": "F.layer_norm(h, (9, 32))",
    "rms_norm": "F.rms_norm(h, (31,))",
    "rms_norm argument": "F.rms_norm(h, (32,), epsilon=1e-6)",
    "attention types": f"{Q}; F.scaled_dot_product_attention(q, q.bfloat16(), q.bfloat16())",
    "attention heads": f"{Q}; F.scaled_dot_product_attention(q, q[:, :4], q[:, :4])",
    "attention of groups": f"{Q}; F.scaled_dot_product_attention(q, q[:, :3], q[:, :3],"
    " enable_gqa=True)",
    "attention widths": f"{Q}; F.scaled_dot_product_attention(q, q[..., :8], q)",
    "attention mask": f"{Q}; F.scaled_dot_product_attention(q, q, q, attn_mask=q[0, 0, :7, :8])",
    "attention mask and causal": f"{Q}; F.scaled_dot_product_attention(q, q, q,"
    " attn_mask=q[0, 0, :8, :8], is_causal=True)",
    "classes of 32 bits": "F.cross_entropy(net(x).flatten(0, 1), x.flatten().int())",
    "classes of another order": "F.cross_entropy(net(x), x)",
    "classes in order": "F.cross_entropy(net(x).transpose(1, 2), x)",
    "rows of classes": "F.cross_entropy(net(x).flatten(0, 1), x[:, 1:].flatten())",
    "weights of classes": "F.cross_entropy(net(x).flatten(0, 1), x.flatten(),"
    " weight=torch.ones(9, device='cuda'))",
    "bce": "F.binary_cross_entropy_with_logits(h, x.float())",
    # Autograd.
    "detached": "loss = loss.detach()",
    "backward twice": "loss.backward()",
    "backward kept": "loss.backward(retain_graph=True)",
    "backward of many": "net(x).backward()",
    "backward of many with a gradient": "y = net(x); y.backward(torch.ones_like(y))",
    **{
        f"written: {line}": f"{line}; loss = loss + y.sum()"
        for line in (
            "y = torch.sigmoid(h); y *= 2",
            "y = torch.sigmoid(h).clone(); y *= 2",
            "y = torch.relu(h); y += 1",
            "y = torch.exp(h); y[:, 0] = 0",
            "y = F.gelu(h); h += 1",
            "y = h * 2; y += 1",
            "y = h * h; h += 1",
            "y = h + 1; y += 1",
            "y = F.layer_norm(h, (32,)); h += y",
            "y = net[1](h); y += 1",
            "y = net[1](h); h += 1",
            "y = h.softmax(-1); y.masked_fill_(x[..., None] > 3, 0.0)",
            "y = h.tanh(); y.view(-1).add_(1)",
            "y = F.dropout(h, 0.5); y += 1",
            "y = h.square(); y.mul_(2)",
            "y = h.sqrt(); y.mul_(2)",
            "y = h.float().mean(-1); y -= 1",
            "y = torch.cat([h, h]); y += 1",
            "y = h / h.norm(dim=-1, keepdim=True); y += 1",
            "y = h.pow(3); h.zero_()",
            "y = F.silu(h); y *= h",
            "y = h.softmax(-1) @ h.transpose(1, 2); y /= 3",
            "y = h.max(-1).values; y += 1",
            "y = F.softplus(h); y += 1",
            "y = F.rms_norm(h, (32,)); y += 1",
            "y = h.var(-1); h += 1",
        )
    },
    "item of many": "x.item()",
    "item": "loss.item()",
    "format of many": "print(f'{x:.2f}')",
    "format": "print(f'{loss:.2f} {x}')",
    "truth of many": "assert x > 3",
    "numpy with a gradient": "loss.cpu().numpy()",
    # Python.
    "name": "print(lss)",
    "attribute of a module": "net.foo()",
    "attribute of an optimizer": "optimizer.zero_grads()",
    "attribute of a tensor": "x.vieww(-1)",
    "too many values": "a, b = x.shape, 1, 2",
    "too few values": "a, b, c = x.shape",
    "division by zero": "z = 1 / (step - step)",
    "remainder by zero": "z = 4 % (step - step)",
    "caught": "try:\n        h.view(5, 7)\n    except RuntimeError:\n        pass",
    "caught by its own": "try:\n        x[9]\n    except IndexError:\n        pass",
    "caught by another": "try:\n        x[9]\n    except ValueError:\n        pass",
    "asked for": "if hasattr(optimizer, 'zero_grads'): optimizer.zero_grads()",
}
OUTSIDE = {
    "assert": "assert 96 % 100 == 0, 'no'",
    "assert that holds": "assert 96 % 32 == 0",
    "raise": "if net[1].weight.shape[0] != 100: raise ValueError('a vocabulary of 100')",
    "dropout": "nn.Dropout(1.5)",
    "heads": "nn.MultiheadAttention(100, 3)",
    "heads that divide": "nn.MultiheadAttention(96, 3)",
    "linear argument": "nn.Linear(2, 2, biass=False)",
    "before __init__": "class M(nn.Module):\n    def __init__(self):\n"
    "        self.a = nn.Linear(2, 2)\nM()",
    "no parameters": "torch.optim.AdamW([p for p in net.parameters() if p.ndim > 3])",
    "two groups": "torch.optim.AdamW([{'params': net.parameters()}, {'params': [net[0].weight]}])",
    "optimizer argument": "torch.optim.AdamW(net.parameters(), learning_rate=1)",
    "prefetch": "DataLoader([1, 2], num_workers=0, prefetch_factor=2)",
    "sampler and shuffle": "DataLoader([1, 2], sampler=SequentialSampler([1, 2]), shuffle=True)",
    "key": "SIZES = {'small': 1}\nSIZES['smal']",
    "exit": "import sys\nif 96 % 100: sys.exit('no such size')",
    "exit that is caught": "import sys\ntry: sys.exit(1)\nexcept SystemExit: pass",
    "betas": "torch.optim.AdamW(net.parameters(), betas=(0.9, 95))",
    "learning rate": "torch.optim.SGD(net.parameters(), lr=-0.1)",
    "end of a schedule": "plan = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, 9)\n"
    "for _ in range(10): plan.step()",
    "schedule": "plan = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, 9)\n"
    "for _ in range(9): plan.step()",
    "fused and foreach": "torch.optim.AdamW(net.parameters(), fused=True, foreach=True)",
    "missing weights": "net.load_state_dict({'0.weight': net[0].weight})",
    "missing weights, not strictly": "net.load_state_dict({'0.weight': net[0].weight},"
    " strict=False)",
    "weights of another shape": "net.load_state_dict({**net.state_dict(),"
    " '1.bias': torch.zeros(95, device='cuda')})",
    "missing argument": "def f(a, b): return a\nf(1)",
    "before it is bound": "def f():\n    n += 1\nf()",
}


def scripts() -> dict[str, str]:
    """Each script by its name."""
    found = {name: BASE.format(above=ABOVE, inside=f"    {line}") for name, line in INSIDE.items()}
    return found | {
        name: BASE.format(above=line, inside="    # nothing") for name, line in OUTSIDE.items()
    }


RUN = """
import json, sys
found = {}
for name, text in json.load(sys.stdin).items():
    try:
        exec(compile(text, name, "exec"), {"__name__": "__main__"})
        found[name] = "runs"
    except BaseException as error:
        found[name] = [type(error).__name__, str(error).partition("\\n")[0]]
print("\\n" + json.dumps(found))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", required=True, help="an interpreter with torch")
    python = parser.parse_args().python
    on_host = {name: text.replace("'cuda'", "'cpu'").replace('"cuda"', '"cpu"')
               for name, text in scripts().items()}  # fmt: skip
    done = subprocess.run(
        (python, "-c", RUN), input=json.dumps(on_host), capture_output=True, text=True, check=True
    )
    rows = json.loads(done.stdout.splitlines()[-1])
    WRITTEN.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    print(f"{sum(each != 'runs' for each in rows.values())} of {len(rows)} raise")


if __name__ == "__main__":
    main()
