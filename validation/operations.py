"""Single operations over random shapes, types, layouts and modes: what both sides are asked.

An operation is written once as an expression for torch; ``nanolint.memory.tensors.ops`` is asked
for the same by the function beside it, in tests/memory/tensors/operations.py. A case is plain data.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

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
    inputs["k"] = (inputs["l"][0][:1], [0], "int64", False)
    used = {name for name in inputs if _uses(expression, name)}
    return {
        "name": name,
        "expression": expression,
        "mode": mode,
        "inputs": {name: list(each) for name, each in inputs.items() if name in used},
    }


def _uses(expression: str, name: str) -> bool:
    code = compile(expression, "expression", "eval")
    codes = [code]
    while codes:
        each = codes.pop()
        if name in each.co_names:
            return True
        codes += [const for const in each.co_consts if hasattr(const, "co_names")]
    return False


def recorded() -> list[Case]:
    """The cases with what torch did: ``events`` are bytes, negative where they come back."""
    rows: list[Case] = json.loads(RECORDED.read_text())
    return rows
