"""Single operations over random shapes, types, layouts and modes: what both sides are asked.

An operation is written once, as an expression for torch; ``nanolint.tensors`` is asked for
the very same, in tests/tables/operations.py. A case is plain data.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Case: TypeAlias = "dict[str, Any]"

RECORDED = Path(__file__).parent / "recorded" / "operations.json"
CASES_EACH = 8

# x is float; y broadcasts against it; every shape that an expression needs is in SHAPES below.
EXPRESSIONS: dict[str, str] = {
    "add": "x + y",
    "add a number": "x + 1.5",
    "sub": "x - y",
    "mul": "x * y",
    "mul by a number": "x * 0.5",
    "mul by itself": "x * x",
    "div": "x / y",
    "div by a number": "x / 3.0",
    "neg": "-x",
    "exp": "torch.exp(x)",
    "log": "torch.log(x)",
    "sqrt": "torch.sqrt(x)",
    "rsqrt": "torch.rsqrt(x)",
    "sigmoid": "torch.sigmoid(x)",
    "tanh": "torch.tanh(x)",
    "relu": "F.relu(x)",
    "relu squared": "F.relu(x).square()",
    "silu": "F.silu(x)",
    "gelu": "F.gelu(x)",
    "gelu by tanh": "F.gelu(x, approximate='tanh')",
    "sin": "torch.sin(x)",
    "cos": "torch.cos(x)",
    "abs": "torch.abs(x)",
    "reciprocal": "torch.reciprocal(x)",
    "pow 2": "x ** 2",
    "pow 3": "x ** 3",
    "softplus": "F.softplus(x)",
    "softcap": "15 * torch.tanh(x / 15)",
    "clamp": "x.clamp(-1, 1)",
    "comparison": "x < y",
    "where": "torch.where(x > 0, x, y)",
    "masked fill": "x.masked_fill(y > 0, float('-inf'))",
    "tril": "torch.tril(x)",
    "softmax": "torch.softmax(x, -1)",
    "log softmax": "torch.log_softmax(x, -1)",
    "sum": "x.sum()",
    "sum of a dimension": "x.sum(-1)",
    "mean": "x.mean()",
    "mean of a dimension": "x.mean(-1, keepdim=True)",
    "maximum of a dimension": "x.amax(-1)",
    "logsumexp": "torch.logsumexp(x, -1)",
    "cumsum": "torch.cumsum(x, -1)",
    "rms norm written out": "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)",
    "to float32": "x.float()",
    "to bfloat16": "x.to(torch.bfloat16)",
    "contiguous": "x.contiguous()",
    "transpose and copy": "x.transpose(-1, -2).contiguous()",
    "flatten": "x.reshape(-1)",
    "slice": "x[..., : x.shape[-1] // 2] * 2.0",
    "rotate": "torch.cat((-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]), -1)",
    "cat": "torch.cat((x, x), -1)",
    "stack": "torch.stack((x, x))",
    "chunk": "x.chunk(2, -1)[0]",
    "unbind": "x.unbind(0)[0]",
    "split and multiply": "(lambda a, b: F.silu(a) * b)(*x.chunk(2, -1))",
    "expand": "x.unsqueeze(0).expand(3, *x.shape) * 2.0",
    "repeat": "x.repeat(2, *[1] * (x.dim() - 1))",
    "repeat interleave": "x.repeat_interleave(2, 0)",
    "roll": "x.roll(1, 0)",
    "pad": "F.pad(x, (1, 2))",
    "dropout": "F.dropout(x, 0.1)",
    "linear": "F.linear(x, w, b)",
    "linear without bias": "F.linear(x, w)",
    "matmul": "x @ w.t()",
    "layer norm": "F.layer_norm(x, x.shape[-1:], n, m)",
    "layer norm without bias": "F.layer_norm(x, x.shape[-1:], n)",
    "rms norm": "F.rms_norm(x, x.shape[-1:], n)",
    "rms norm without weight": "F.rms_norm(x, x.shape[-1:])",
    "bmm": "a @ c",
    "scores": "(a @ a.transpose(-2, -1)) * 0.125",
    "embedding": "F.embedding(i, e)",
    "cross entropy": "F.cross_entropy(l, k)",
    "cross entropy in float32": "F.cross_entropy(l.float(), k)",
    "cross entropy of parts": "F.cross_entropy(l, k, reduction='none').mean()",
    "flash attention": "F.scaled_dot_product_attention(q, q, v, is_causal=True)",
    "grouped attention": "F.scaled_dot_product_attention(q, g, h, is_causal=True, enable_gqa=True)",
    "gather": "x.gather(-1, torch.zeros(x.shape, dtype=torch.int64, device=x.device))",
    # Norms and activations as models write them.
    "rms norm in float32": "n * (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True)"
    " + 1e-5)).type_as(x)",
    "rms norm by division": "x / (x.norm(dim=-1, keepdim=True) * 0.1 + 1e-6) * n",
    "layer norm written out": "(x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)",
    "normalize": "F.normalize(x, dim=-1)",
    "swiglu": "(F.silu(F.linear(x, w)) * F.linear(x, w)) @ w",
    "mish": "F.mish(x)",
    "leaky relu": "F.leaky_relu(x, 0.01)",
    "elu": "F.elu(x)",
    "log sigmoid": "F.logsigmoid(x)",
    "hardtanh": "F.hardtanh(x)",
    "glu": "F.glu(x, -1)",
    "erf": "torch.erf(x)",
    "log1p": "torch.log1p(x)",
    "expm1": "torch.expm1(x)",
    "log2": "torch.log2(x)",
    "tan": "torch.tan(x)",
    "sign": "torch.sign(x)",
    "floor": "torch.floor(x)",
    "square root of a sum": "(x * x).sum(-1).sqrt()",
    "number minus tensor": "1 - x",
    "number over tensor": "1 / x",
    "number to the power of tensor": "2 ** x",
    "tensor to the power of tensor": "torch.pow(x, y)",
    "pow a half": "x ** 0.5",
    "pow -0.5": "x ** -0.5",
    "floor division": "x // 2",
    "remainder": "x % 3",
    "maximum": "torch.maximum(x, y)",
    "lerp": "torch.lerp(x, x * 2, 0.3)",
    "lerp by a tensor": "torch.lerp(x, x * 2, torch.sigmoid(x))",
    "addcmul": "torch.addcmul(x, x, y)",
    "add with alpha": "torch.add(x, y, alpha=0.5)",
    "sub with alpha": "torch.sub(x, y, alpha=0.5)",
    "clamp below": "x.clamp(min=0.5)",
    "clamp min": "x.clamp_min(0.5)",
    "is nan": "torch.isnan(x)",
    "is inf": "torch.isinf(x)",
    "is finite": "torch.isfinite(x)",
    "logical": "(x > 0) & ~(y > 1)",
    "where with a number": "torch.where(x > 0, x, 0.0)",
    "where with a number first": "torch.where(y > 0, 0.0, x)",
    "masked fill by a tensor": "x.masked_fill(torch.isnan(x), 0.0)",
    "masked by a triangle": "(a @ a.transpose(-2, -1)).masked_fill("
    "torch.tril(torch.ones(a.shape[-2], a.shape[-2], device=a.device)) == 0, float('-inf'))",
    "triu of ones": "torch.triu(torch.ones(64, 64, device=x.device, dtype=torch.bool), 1)",
    # Reductions.
    "maximum of all": "x.max()",
    "maximum with indices": "x.max(-1)[0]",
    "minimum of all": "x.min()",
    "prod": "x.prod(-1)",
    "var": "x.var(-1)",
    "var biased": "x.var(-1, keepdim=True, unbiased=False)",
    "std": "x.std(-1)",
    "std of all": "x.std()",
    "norm": "x.norm()",
    "norm of a dimension": "x.norm(dim=-1, keepdim=True)",
    "vector norm": "torch.linalg.vector_norm(x, dim=-1)",
    "any": "(x > 0).any()",
    "all of a dimension": "(x > 0).all(-1)",
    "sum of two dimensions": "x.sum((0, 1))",
    "sum of integers": "(x > 0).sum(-1)",
    "mean in float32": "x.mean(-1, dtype=torch.float32)",
    "cumsum of the first": "torch.cumsum(x, 0)",
    "cumprod": "torch.cumprod(x, -1)",
    "argmax": "x.argmax(-1)",
    # Choosing and placing.
    "topk": "torch.topk(x, 2, -1)[0]",
    "topk of rows": "torch.topk(x, 8)[0].softmax(-1)",
    "sort": "torch.sort(x, -1)[0]",
    "argsort": "torch.argsort(x, -1)",
    "multinomial": "torch.multinomial(x.detach().float().reshape(-1, x.shape[-1]), 1)",
    "one hot": "F.one_hot(k, 50)",
    "bincount": "torch.bincount(k, minlength=64)",
    "scatter": "torch.zeros_like(x).scatter(-1, torch.zeros(x.shape, dtype=torch.int64,"
    " device=x.device), x)",
    "scatter add": "torch.zeros_like(x).scatter_add(-1, torch.zeros(x.shape, dtype=torch.int64,"
    " device=x.device), x)",
    "scatter a number": "torch.zeros_like(x).scatter(-1, torch.topk(x, 2, -1)[1], 1.0)",
    "index select": "x.index_select(-1, torch.arange(4, device=x.device))",
    "index add": "torch.zeros_like(x).index_add(0, torch.arange(x.shape[0], device=x.device), x)",
    "index by a tensor": "x[torch.arange(3, device=x.device) % x.shape[0]]",
    "index by two tensors": "l[torch.arange(l.shape[0], device=l.device), k]",
    "index by a table": "e[i]",
    "index the second": "x[:, torch.arange(3, device=x.device) % x.shape[1]]",
    "table of positions": "e[: i.shape[1]]",
    "last of a dimension": "x[..., -1]",
    "last kept": "x[:, [-1], :] if x.dim() == 3 else x[:, [-1]]",
    "every second": "x[..., ::2] * x[..., 1::2]",
    "none and ellipsis": "x[None, ..., None] * 2",
    "diagonal": "torch.diagonal(x, 0, -2, -1)",
    # Joining.
    "cat of three": "torch.cat((x, x * 2, x), 0)",
    "cat of types": "torch.cat((x, x.float()), -1)",
    "stack last": "torch.stack((x, -x), -1)",
    "stack and flatten": "torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)",
    "flip": "torch.flip(x, (-1,))",
    "tile": "torch.tile(x, (2, 1))",
    "pad rows": "F.pad(x, (0, 0, 1, 0))",
    "shift by padding": "F.pad(x, (0, 0, 1, -1))",
    "split unevenly": "(lambda a, b: a.sum() + b.sum())(*x.split((6, x.shape[-1] - 6), -1))",
    "split one used": "x.split((6, x.shape[-1] - 6), -1)[1] * 2",
    "unbind two": "(lambda a: a[0] * a[-1])(x.unbind(-1))",
    "unflatten": "x.unflatten(-1, (2, -1)).transpose(-1, -2).contiguous()",
    "permute": "x.permute(*range(x.dim() - 1, -1, -1)) * 2",
    "expand and flatten": "x[:, None].expand(x.shape[0], 3, *x.shape[1:]).reshape(-1, x.shape[-1])",
    "grouped keys": "g[:, :, None].expand(g.shape[0], g.shape[1], 2, *g.shape[2:])"
    ".reshape(g.shape[0], 2 * g.shape[1], *g.shape[2:])",
    "unfold": "x.unfold(-1, 4, 2) * 2",
    "clone": "x.clone()",
    "detach": "x * x.detach()",
    # Rotary embeddings.
    "rotary halves": "d, s = q.chunk(2, -1)\n"
    "t = torch.arange(q.shape[-2], device=q.device).float()\n"
    "f = torch.outer(t, torch.arange(d.shape[-1], device=q.device).float())\n"
    "u, z = f.cos().to(q.dtype), f.sin().to(q.dtype)\n"
    "return torch.cat((d * u + s * z, s * u - d * z), -1)",
    "rotary by rotate_half": "u = torch.cos(q[0, 0].detach())\n"
    "z = torch.sin(q[0, 0].detach())\n"
    "def rotate(x):\n"
    "    half = x.shape[-1] // 2\n"
    "    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)\n"
    "return (q * u) + (rotate(q) * z)",
    "rotary in float32": "d, s = q.float().reshape(*q.shape[:-1], -1, 2).unbind(-1)\n"
    "f = torch.ones(q.shape[-2], q.shape[-1] // 2, device=q.device)\n"
    "out = torch.stack((d * f - s * f, d * f + s * f), dim=-1).flatten(3)\n"
    "return out.type_as(q)",
    "rotary by complex numbers": "f = torch.ones(q.shape[-2], q.shape[-1] // 2, device=q.device)\n"
    "f = torch.polar(f, f)\n"
    "d = torch.view_as_complex(q.float().reshape(*q.shape[:-1], -1, 2))\n"
    "return torch.view_as_real(d * f).flatten(3).type_as(q)",
    # Products.
    "einsum bmm": "torch.einsum('bhtd,bhsd->bhts', q, v)",
    "einsum by letters": "torch.einsum('bhtd,bhtd->bht', q, v)",
    "einsum outer": "torch.einsum('i,j->ij', x.reshape(-1)[:7], n)",
    "einsum of a weight": "torch.einsum('ij,kj->ik', x.reshape(-1, x.shape[-1]), w)",
    "einsum batched weight": "torch.einsum('bhtd,hde->bhte', q, v[0, :, :8].transpose(-1, -2))",
    "outer": "torch.outer(x.reshape(-1), n)",
    "mm": "torch.mm(x.reshape(-1, x.shape[-1]), w.t())",
    "vector product": "n @ m",
    "matrix times vector": "x @ n",
    "addmm": "torch.addmm(b, x.reshape(-1, x.shape[-1]), w.t())",
    "baddbmm": "torch.baddbmm(torch.zeros(1, 1, 1, device=a.device, dtype=a.dtype).expand("
    "a.shape[0], a.shape[2], a.shape[2]), a[:, 0], a[:, 1].transpose(1, 2))",
    "shared matrix": "a @ c[0, 0]",
    "shared matrix that does not learn": "a @ c[0, 0].detach()",
    "shared matrix from the left": "c[0, 0].detach().t() @ a.transpose(-1, -2)",
    "shared matrix that learns from the left": "c[0, 0].t() @ a.transpose(-1, -2)",
    "einsum with an ellipsis": "torch.einsum('...i,ji->...j', x, w)",
    "broadcast batches": "a @ c[:1]",
    "conv1d": "F.conv1d(j, o, p, padding=3, groups=j.shape[1])",
    "conv1d of what lies across": "t = j.transpose(1, 2).contiguous().transpose(1, 2)\n"
    "return F.conv1d(t * 2, o, p, padding=3, groups=j.shape[1])",
    "conv1d before a transposition": "F.conv1d(j, o, p, padding=3, groups=j.shape[1])"
    ".transpose(1, 2).reshape(-1, j.shape[1]) * 2",
    # Losses.
    "cross entropy ignoring": "F.cross_entropy(l, k, ignore_index=-1)",
    "cross entropy summed": "F.cross_entropy(l, k, reduction='sum')",
    "cross entropy smoothed": "F.cross_entropy(l, k, label_smoothing=0.1)",
    "cross entropy of softcapped": "F.cross_entropy(15 * torch.tanh(l / 15), k)",
    "cross entropy of softcapped in float32": "l = l.float()\n"
    "l = 15 * torch.tanh(l / 15)\n"
    "return F.cross_entropy(l.view(-1, l.size(-1)), k.view(-1), ignore_index=-1)",
    "cross entropy by probabilities": "F.cross_entropy(l, torch.softmax(l.detach(), -1))",
    "cross entropy transposed": "F.cross_entropy(l.view(2, -1, l.shape[-1]).transpose(1, 2),"
    " k.view(2, -1))",
    "nll of log softmax": "F.nll_loss(F.log_softmax(l, -1), k)",
    "log probabilities": "F.log_softmax(l, -1).gather(-1, k[:, None]).squeeze(-1)",
    "z loss": "torch.logsumexp(l, -1).pow(2).mean()",
    "entropy": "-(torch.softmax(l, -1) * torch.log_softmax(l, -1)).sum(-1).mean()",
    "mse": "F.mse_loss(x, x.detach() * 2)",
    "softmax in float32": "F.softmax(x, dim=-1, dtype=torch.float32)",
    "softmax back": "F.softmax(x.float(), dim=-1).type_as(x)",
    # Attention.
    "attention": "F.scaled_dot_product_attention(q, v, v)",
    "attention with dropout": "F.scaled_dot_product_attention(q, v, v, dropout_p=0.1,"
    " is_causal=True)",
    "attention under a mask": "F.scaled_dot_product_attention(q, v, v, attn_mask=torch.ones("
    "q.shape[-2], q.shape[-2], dtype=torch.bool, device=q.device).tril())",
    "attention with a bias": "F.scaled_dot_product_attention(q, v, v, attn_mask=torch.zeros("
    "q.shape[-2], q.shape[-2], dtype=q.dtype, device=q.device))",
    "attention with a learned bias": "F.scaled_dot_product_attention(q, v, v, attn_mask=q @"
    " v.transpose(-1, -2))",
    "attention in float32": "F.scaled_dot_product_attention(q.float(), v.float(), v.float(),"
    " is_causal=True)",
    "grouped attention under a mask": "F.scaled_dot_product_attention(q, g, h, enable_gqa=True,"
    " attn_mask=torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool, device=q.device).tril())",
    "attention of repeated keys": "F.scaled_dot_product_attention(q, g.repeat_interleave(2, 1),"
    " h.repeat_interleave(2, 1), is_causal=True)",
    "attention of repeated keys by expand": "F.scaled_dot_product_attention(q, *(t[:, :, None]"
    ".expand(t.shape[0], t.shape[1], 2, *t.shape[2:]).reshape(q.shape) for t in (g, h)),"
    " is_causal=True)",
    "attention under an odd mask": "t = q[:, :, :13]\n"
    "return F.scaled_dot_product_attention(t, v[:, :, :13], v[:, :, :13], attn_mask=torch.ones("
    "13, 13, dtype=torch.bool, device=q.device).tril())",
    "attention with an odd bias": "t = q[:, :, :13].float()\n"
    "return F.scaled_dot_product_attention(t, t, t, attn_mask=torch.ones("
    "1, 1, 13, 13, device=q.device))",
    "attention of one query": "F.scaled_dot_product_attention(q[:, :, -1:], v, v)",
    "attention of odd heads": "F.scaled_dot_product_attention(q[..., :6], v[..., :6], v[..., :6],"
    " is_causal=True)",
    "attention of odd heads under a mask": "F.scaled_dot_product_attention(q[..., :6], v[..., :6],"
    " v[..., :6], attn_mask=torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool,"
    " device=q.device).tril())",
    "attention written out": "t = q @ v.transpose(-2, -1) * 0.125\n"
    "f = torch.ones(q.shape[-2], q.shape[-2], device=q.device).tril()\n"
    "t = t.masked_fill(f == 0, float('-inf'))\n"
    "t = F.softmax(t, dim=-1)\n"
    "t = F.dropout(t, 0.1)\n"
    "return (t @ v).transpose(1, 2).contiguous().view(q.shape[0], q.shape[2], -1)",
    # In place.
    "add in place": "t = x * 2\nt += x\nreturn t",
    "sub in place": "t = x * 2\nt -= x\nreturn t",
    "mul in place": "t = x * 2\nt *= 0.5\nreturn t",
    "mul in place by a tensor": "t = x + 2\nt *= y.detach().abs().mean()\nreturn t",
    "mul in place of what learns": "t = x + 2\nt.mul_(x)\nreturn t",
    "masked fill in place": "t = x * 2\nt.masked_fill_(t < 0, 0.0)\nreturn t",
    "copy into a part": "t = torch.zeros_like(x)\nt[..., :4] = x[..., :4]\nreturn t * 2",
    "copy over": "t = torch.zeros_like(x)\nt.copy_(x * 2)\nreturn t",
    "fill a part": "t = x * 2\nt[..., 0] = 0\nreturn t",
    "add to a part": "t = x * 2\nt[..., :2] += 1\nreturn t",
    "write into a view": "t = x * 2\nt[:, 0] = x[:, 0] * 3\nreturn t.sum(-1)",
    "scatter in place": "t = torch.full_like(x, float('-inf'))\n"
    "t.scatter_(-1, torch.topk(x, 2, -1)[1], torch.topk(x, 2, -1)[0])\nreturn t.softmax(-1)",
    "index add in place": "t = torch.zeros_like(x)\n"
    "t.index_add_(0, torch.arange(x.shape[0], device=x.device), x * 2)\nreturn t",
    # Loops.
    "recurrence": "t, f = x[0], []\n"
    "for d in x[:4]:\n    t = t * 0.9 + d\n    f.append(t)\nreturn torch.stack(f)",
    "chunks of a loss": "t = 0\n"
    "for d, s in zip(l.chunk(2), k.chunk(2)):\n    t = t + F.cross_entropy(d, s)\nreturn t / 2",
    "experts by a mask": "t = F.one_hot(torch.topk(x, 2, -1)[1], x.shape[-1]).sum(-2)\n"
    "return x * t.to(x.dtype)",
    "decay": "torch.exp(-torch.exp(x.float())).cumsum(-1)",
    "dropout of attention": "F.dropout(F.softmax(x, -1), 0.2, True)",
    "dropout in place": "F.dropout(x * 2, 0.1, training=True, inplace=True)",
    # Checkpointing.
    "checkpoint": "f = lambda x: x + F.linear(F.gelu(F.linear(F.rms_norm(x, x.shape[-1:]), w)),"
    " w.t())\n"
    "for _ in range(2):\n"
    "    x = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)\n"
    "return x * 2",
    "checkpoint with dropout": "f = lambda x: x + F.dropout(F.silu(F.linear(x, w)) @ w, 0.1)\n"
    "x = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)\n"
    "return x * 2",
    "checkpoint of two": "f = lambda x, y: torch.tanh(x * y) * x\n"
    "return torch.utils.checkpoint.checkpoint(f, x, x * 2, use_reentrant=False,"
    " preserve_rng_state=False)",
    "checkpoint of attention": "f = lambda q, v: F.softmax(F.scaled_dot_product_attention("
    "q, v, v, is_causal=True), -1) @ v.transpose(-1, -2)\n"
    "return torch.utils.checkpoint.checkpoint(f, q * 2, v, use_reentrant=False)",
    "reentrant checkpoint": "f = lambda x: x + F.linear(F.gelu(F.linear(F.rms_norm(x,"
    " x.shape[-1:]), w)), w.t())\n"
    "for _ in range(2):\n"
    "    x = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=True)\n"
    "return x * 2",
    "reentrant checkpoint with dropout": "f = lambda x: x + F.dropout(F.silu(F.linear(x, w)) @ w,"
    " 0.1)\n"
    "x = torch.utils.checkpoint.checkpoint(f, x * 1, use_reentrant=True)\n"
    "return x * 2",
    "checkpoint of a product with a bias": "f = lambda x: F.linear(F.gelu(F.linear(x, w, b)),"
    " w.t(), m)\n"
    "return torch.utils.checkpoint.checkpoint(f, x * 2, use_reentrant=False) * 2",
    "checkpointed loss": "f = lambda x, k: F.cross_entropy(15 * torch.tanh(x.float() / 15), k)\n"
    "return torch.utils.checkpoint.checkpoint(f, l, k, use_reentrant=False)",
    # Losses and distances.
    "l1 loss": "F.l1_loss(x, x.detach() * 2)",
    "l1 loss of each": "F.l1_loss(x, y.detach() * x.detach(), reduction='none').mean()",
    "kl div": "F.kl_div(F.log_softmax(x, -1), torch.softmax(x.detach(), -1),"
    " reduction='batchmean')",
    "kl div of logarithms": "F.kl_div(F.log_softmax(x, -1), F.log_softmax(x.detach(), -1),"
    " reduction='sum', log_target=True)",
    "kl div of each": "F.kl_div(F.log_softmax(x, -1), torch.softmax(x.detach(), -1),"
    " reduction='none').sum(-1)",
    # Values of each element.
    "sinh": "torch.sinh(x)",
    "cosh": "torch.cosh(x)",
    "atan": "torch.atan(x)",
    "erfc": "torch.erfc(x)",
    "selu": "F.selu(x)",
    "celu": "F.celu(x)",
    "soft sign": "F.softsign(x)",
    "hard sigmoid": "F.hardsigmoid(x)",
    "threshold": "F.threshold(x, 0.1, 0.0)",
    # Reductions and orders.
    "cumulative maximum": "torch.cummax(x, -1)[0]",
    "softmin": "F.softmin(x, -1)",
    "gumbel softmax": "F.gumbel_softmax(x, tau=1.0, dim=-1)",
    "hard gumbel softmax": "F.gumbel_softmax(x, tau=1.0, hard=True, dim=-1)",
    "differences": "torch.diff(x, dim=-1)",
    # In place by index.
    "index copy in place": "t = torch.zeros_like(x)\n"
    "t.index_copy_(0, torch.arange(x.shape[0], device=x.device), x * 2)\nreturn t",
    "index put in place": "t = torch.zeros_like(x.detach())\n"
    "t[torch.arange(x.shape[0], device=x.device)] = x.detach()\nreturn t",
    "index put what learns": "t = torch.zeros_like(x)\n"
    "t[torch.arange(x.shape[0], device=x.device)] = x\nreturn t * 2",
    "index fill in place": "t = x.detach() * 2\n"
    "t.index_fill_(0, torch.arange(1, device=x.device), 0.0)\nreturn t",
    "addmm in place": "t = torch.zeros(x[..., 0].numel(), w.shape[0], device=x.device,"
    " dtype=x.dtype)\n"
    "t.addmm_(x.detach().reshape(-1, x.shape[-1]), w.detach().to(x.dtype).t())\nreturn t",
    "divide in place": "t = x * 2\nt /= x.detach().abs().sum() + 1\nreturn t",
    "divide in place by what learns": "t = x * 2\nt /= (x.abs().sum(-1, keepdim=True) + 1)"
    ".to(x.dtype)\nreturn t",
    "relu in place": "return F.relu(x * 2, inplace=True)",
    "clamp in place": "t = x * 2\nreturn t.clamp_(-1, 1)",
    # Shapes.
    "hstack": "torch.hstack((x, x))",
    "vstack": "torch.vstack((x, x))",
    "constant pad by itself": "F.pad(x, (0, 0, 2, -2))",
    "new tensors": "x.new_zeros(4, 3).sum() + x.new_ones(5).sum() + x.new_full((2,), 1.5).sum()",
    "broadcast to": "torch.broadcast_to(x[:1], x.shape) * 2",
    "matrix times a vector": "torch.mv(w, n)",
    "inner": "torch.inner(n, m)",
    "tensordot": "torch.tensordot(x, w, dims=([-1], [1]))",
    "checkpoint in segments": "f = lambda x: x + F.gelu(F.linear(F.linear(x, w), w.t()))\n"
    "x = torch.utils.checkpoint.checkpoint_sequential([f, f, f, f], 2, x, use_reentrant=False)\n"
    "return x * 2",
    "no grad inside": "with torch.no_grad():\n    t = (x * 2).exp()\nreturn x * t",
    "einsum over one element": "torch.einsum('...fd,...fs->...ds', x[..., None, :],"
    " x[..., None, :4])",
    "einsum over one element of the other": "torch.einsum('...sd,...d->...s', q, v[..., :1, :1])",
    "einsum of three": "torch.einsum('bhtd,bhsd,bh->bhts', q, v, v[..., 0, 0])",
    "einsum of what is in one": "torch.einsum('bhtd,bhs->bhst', q, v[..., :3, :].sum(2))",
    "einsum of what is alone": "torch.einsum('bhtd,bhs->bht', q, v[..., 0])",
    "einsum of one": "torch.einsum('bhtd->ht', q)",
    # Gradients that lie otherwise, or are summed to one element.
    "attention under a mask, rows first": "F.scaled_dot_product_attention(q, v, v, attn_mask="
    "torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool, device=q.device).tril())"
    ".permute(2, 0, 1, 3).reshape(q.shape[2], -1) * 2",
    "attention by heads": "F.scaled_dot_product_attention(q, v, v, attn_mask=torch.ones("
    "q.shape[-2], q.shape[-2], dtype=torch.bool, device=q.device).tril()).contiguous() * 2",
    "prelu": "F.prelu(x, n[:1])",
    "prelu of channels": "F.prelu(x, torch.ones(x.shape[1], device=x.device, dtype=x.dtype)"
    " * n[:1])",
    # Sorted by keys that are drawn.
    "randperm": "x * torch.randperm(x.shape[-1], device=x.device)",
    # Images: im, by kernels that are parts of w.
    "conv2d": "F.conv2d(im, w[:, :im.shape[1] * 9].reshape(-1, im.shape[1], 3, 3), b, padding=1)",
    "conv2d without bias": "F.conv2d(im, w[:, :im.shape[1] * 4].reshape(-1, im.shape[1], 2, 2),"
    " stride=2)",
    "conv2d of patches": "F.conv2d(im, w[:, :im.shape[1] * 16].reshape(-1, im.shape[1], 4, 4), b,"
    " stride=4).flatten(2).transpose(1, 2) * 2",
    "conv2d of what lies across": "F.conv2d(im.transpose(2, 3) * 1, w[:, :im.shape[1] * 9]"
    ".reshape(-1, im.shape[1], 3, 3), b, padding='same')",
    "conv2d twice": "t = F.relu(F.conv2d(im, w[:, :im.shape[1] * 9].reshape(-1, im.shape[1], 3, 3),"
    " b, 1, 1))\nreturn F.conv2d(t, w[:3, :1, None, None].expand(3, t.shape[1], 1, 1))",
    "conv2d depthwise": "F.conv2d(im, w[:1, :9].reshape(1, 1, 3, 3).expand(im.shape[1], 1, 3, 3),"
    " groups=im.shape[1], padding=1)",
    "conv1d of all channels": "F.conv1d(im.flatten(2), w[:, :im.shape[1] * 3]"
    ".reshape(-1, im.shape[1], 3), b, padding=1)",
    "transposed conv2d": "F.conv_transpose2d(im, w[:im.shape[1], :8].reshape(im.shape[1], 2, 2, 2),"
    " b[:2], stride=2)",
    "batch norm": "F.batch_norm(im, None, None, n.float(), m.float(), training=True)",
    "batch norm alone": "F.batch_norm(im, None, None, training=True)",
    "batch norm of a sequence": "F.batch_norm(im.flatten(2), None, None, n.float(), m.float(),"
    " training=True)",
    "batch norm that evaluates": "F.batch_norm(im, torch.zeros(im.shape[1], device=im.device),"
    " torch.ones(im.shape[1], device=im.device), n.float(), m.float())",
    "group norm": "F.group_norm(im, 2, n, m)",
    "group norm alone": "F.group_norm(im, 1)",
    "max pool": "F.max_pool2d(im, 2)",
    "max pool that overlaps": "F.max_pool2d(im * 2, 3, stride=2, padding=1) * 2",
    "average pool": "F.avg_pool2d(im, 2)",
    "adaptive average pool": "F.adaptive_avg_pool2d(im, 1)",
    "adaptive average pool of several": "F.adaptive_avg_pool2d(im, (2, 2))",
    "nearest": "F.interpolate(im, scale_factor=2)",
    "bilinear": "F.interpolate(im, size=(24, 24), mode='bilinear')",
    "dropout of channels": "F.dropout2d(im, 0.1)",
    # Images whose channels move fastest.
    **{
        f"{name}, channels last": "t = im.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)\n"
        f"return {call}"
        for name, call in {
            "conv2d": "F.conv2d(t, w[:, : t.shape[1] * 9].reshape(-1, t.shape[1], 3, 3), b)",
            "conv2d of one place": "F.conv2d(t, w[:, : t.shape[1], None, None], b) * 2",
            "conv2d twice": "F.conv2d(F.relu(F.conv2d(t, w[:1, : t.shape[1], None, None]"
            ".expand(16, t.shape[1], 1, 1))), w[:3, :16, None, None])",
            "transposed conv2d": "F.conv_transpose2d(t, w[: t.shape[1], :8]"
            ".reshape(t.shape[1], 2, 2, 2), b[:2], stride=2)",
            "batch norm": "F.batch_norm(t.float(), None, None, n.float(), m.float(), True)",
            "group norm": "F.group_norm(t * 2, 2, n, m)",
            "max pool": "F.max_pool2d(t * 2, 2) * 2",
            "average pool": "F.avg_pool2d(t, 2)",
            "cat": "F.group_norm(torch.cat((t, t * 2), 1), 2) * 2",
            "nearest": "F.interpolate(F.conv2d(t, w[:1, : t.shape[1], None, None]"
            ".expand(16, t.shape[1], 1, 1)), scale_factor=2) * 2",
        }.items()
    },
    # Many indices of few rows.
    "embedding of characters": "F.embedding(i.repeat(8, 1), e)",
    # One place for each channel, the k-th of a row and classes that weigh.
    "group norm of rows": "F.group_norm(x.reshape(-1, x.shape[-1]), 2, n, m)",
    "group norm of rows alone": "F.group_norm(x.reshape(-1, x.shape[-1]), 1)",
    "kth value": "torch.kthvalue(x, 3)[0]",
    "kth value, kept": "x - x.kthvalue(2, dim=-1, keepdim=True).values",
    "weighed and smoothed": "F.cross_entropy(l, k, l[0].detach() * 2, label_smoothing=0.1,"
    " reduction='sum')",
    # Down many rows, which blocks share.
    **{
        f"{name} down many rows": f"t = x.reshape(-1, x.shape[-1]).repeat(200, 1)\nreturn {call}"
        for name, call in {
            "argmax": "t.argmax(0)",
            "logsumexp": "torch.logsumexp(t, 0)",
            "maximum": "t.amax(0)",
            "sum in float64": "t.sum(0, dtype=torch.float64)",
            "sum of truths": "(t > 0).sum(0)",
            "variance in float64": "t.double().var(0)",
            "variance and mean": "torch.add(*torch.var_mean(t, 0))",
        }.items()
    },
    "argmax of all": "x.argmax()",
    "logsumexp of all": "torch.logsumexp(x * 2, tuple(range(x.ndim)))",
    "dropout of all": "F.dropout(x, 1.0) * 2",
    "dropout of all in place": "F.dropout(x * 2, 1.0, training=True, inplace=True)",
    "power by what does not learn": "x.abs() ** y.detach()",
}

DTYPES = ("float32", "bfloat16", "float16")
MODES = ("plain", "plain", "autocast", "no_grad", "autocast no_grad")


def generate() -> list[Case]:
    """The cases, the same at every call."""
    return [
        _case(name, expression, Random(f"{name} {number}"))
        for name, expression in EXPRESSIONS.items()
        for number in range(CASES_EACH)
    ]


def _case(name: str, expression: str, random: Random) -> Case:
    """``inputs`` are (shape in memory, order of its dimensions, dtype, learns) by name."""
    choose = random.choice
    dims = random.randint(2, 4)
    shape = [choose((1, 2, 3, 5, 64, 96)) for _ in range(dims - 1)] + [choose((16, 64, 130, 384))]
    order = list(range(dims))
    if choose((False, False, True)):
        random.shuffle(order)
    dtype = choose(DTYPES)
    mode = choose(MODES)
    if mode.startswith("autocast"):
        dtype = choose(("float32", "bfloat16"))
    inputs: dict[str, Any] = {"x": (shape, order, dtype, choose((True, True, True, False)))}
    seen = [shape[place] for place in order]
    width = seen[-1]
    other = [choose((size, size, 1)) for size in seen][choose((0, 0, 1)) :]
    inputs["y"] = (
        other,
        list(range(len(other))),
        choose((dtype, dtype, "float32")),
        choose((True, False)),
    )
    weights = "float32" if mode.startswith("autocast") else dtype
    fan_out = choose((8, 64, 264))
    inputs |= {
        "w": ([fan_out, width], [0, 1], weights, True),
        "b": ([fan_out], [0], weights, True),
        "n": ([width], [0], weights, True),
        "m": ([width], [0], weights, True),
    }
    batch, rows, inner, columns = (choose((1, 2, 5, 64)) for _ in range(4))
    inputs |= {
        "a": ([batch, 2, rows, inner], choose(([0, 1, 2, 3], [0, 2, 1, 3])), dtype, True),
    }
    a = inputs["a"]
    seen_a = [a[0][place] for place in a[1]]
    inputs["c"] = ([*seen_a[:2], seen_a[3], columns], [0, 1, 2, 3], dtype, True)
    half = dtype if dtype != "float32" or mode.startswith("autocast") else "bfloat16"
    heads, tokens, head = choose((2, 4)), choose((16, 200)), choose((8, 64, 128))
    inputs |= {
        "q": ([2, tokens, heads, head], [0, 2, 1, 3], half, True),
        "v": ([2, tokens, heads, head], [0, 2, 1, 3], half, True),
        "g": ([2, tokens, heads // 2, head], [0, 2, 1, 3], half, True),
        "h": ([2, tokens, heads // 2, head], [0, 2, 1, 3], half, True),
        "i": ([batch, choose((7, 1000, 4000))], [0, 1], "int64", False),
        "e": ([choose((50, 3000)), choose((16, 64))], [0, 1], weights, True),
        "l": ([choose((8, 300)), choose((65, 1000))], [0, 1], dtype, True),
    }
    channels, kernel = choose((8, 64)), choose((3, 4))
    inputs |= {
        "j": ([2, channels, choose((64, 200))], choose(([0, 1, 2], [0, 1, 2])), half, True),
        "o": ([channels, 1, kernel], [0, 1, 2], weights, True),
        "p": ([channels], [0], weights, True),
    }
    if _uses(expression, "im"):
        channels, side, shown = choose((2, 8)), choose((8, 32)), choose((1, 4, 64))
        inputs |= {
            "im": ([shown, channels, side, side], [0, 1, 2, 3], dtype, choose((True, False))),
            "w": ([fan_out, 130], [0, 1], weights, True),
            **dict.fromkeys("nm", ([channels], [0], weights, True)),
        }
    inputs["k"] = (inputs["l"][0][:1], [0], "int64", False)
    used = {name for name in inputs if _uses(expression, name)}
    return {
        "name": name,
        "expression": expression,
        "mode": mode,
        "inputs": {name: list(each) for name, each in inputs.items() if name in used},
    }


def _uses(expression: str, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name for node in ast.walk(ast.parse(expression))
    )


def function_of(case: Case, names: dict[str, Any]) -> Callable[..., Any]:
    """The expression, or the statements up to a ``return``, as a function of the inputs."""
    text = case["expression"]
    body = text if "return" in text else f"return {text}"
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    scope = dict(names)
    exec(f"def function({', '.join(case['inputs'])}):\n{indented}", scope)
    function: Callable[..., Any] = scope["function"]
    return function


def recorded() -> list[Case]:
    """The cases with what torch did: ``events`` are bytes, negative where they come back."""
    rows: list[Case] = json.loads(RECORDED.read_text())
    return rows
