"""Measure what attention takes on the card in this machine, as PyTorch chooses its kernel there.

    python validation/measure_attention.py --seed 1 --count 60 --out FILE

Needs torch with CUDA, nothing else. Shapes, layouts, masks and dropout are drawn by chance; of each
is kept which kernel PyTorch takes and what its allocator is asked for, forward and backward.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from validation.card import described, seen, watch, write

KERNELS = {0: "math", 1: "flash", 2: "efficient", 3: "cudnn", -1: "none"}


def drawn(chance: random.Random) -> dict[str, Any]:
    """The arguments of one call."""
    heads = chance.choice([1, 2, 4, 6, 8, 12, 16, 25])
    shared = chance.choice([1, 1, 1, 2, 4])
    length = chance.choice([1, 17, 64, 100, 128, 200, 256, 257, 500, 512, 1000, 1024, 2048, 4096])
    return {
        "batch": chance.choice([1, 1, 2, 3, 4, 8, 12, 16, 32]),
        "heads": heads,
        "key_heads": heads // shared if heads % shared == 0 else heads,
        "length": length,
        "key_length": chance.choice([length, length, length, length, 128, 1024]),
        "width": chance.choice([16, 32, 48, 64, 64, 64, 80, 96, 100, 128, 128, 160, 192, 256]),
        "dtype": chance.choice(["bfloat16", "bfloat16", "bfloat16", "float16", "float32"]),
        "dropout": chance.choice([0.0, 0.0, 0.0, 0.1, 0.125, 0.25]),
        "causal": chance.choice([True, True, False]),
        "mask": chance.choice([None, None, None, None, "bool", "float"]),
        "layout": chance.choice(["heads inside", "heads inside", "packed", "contiguous"]),
        "backward": chance.choice([True, True, True, False]),
    }


def called(of: dict[str, Any]) -> dict[str, Any]:
    """What one call takes: the kernel's name, and the allocator's events in both passes."""
    import torch
    import torch.nn.functional as F  # noqa: N812

    dtype, learns = getattr(torch, of["dtype"]), of["backward"]

    def made(heads: int, length: int) -> Any:
        shape = of["batch"], length, heads, of["width"]
        if of["layout"] == "contiguous":
            shape = of["batch"], heads, length, of["width"]
        made = torch.randn(shape, device="cuda", dtype=dtype, requires_grad=learns)
        return made if of["layout"] == "contiguous" else made.transpose(1, 2)

    if of["layout"] == "packed" and of["heads"] == of["key_heads"]:
        of["key_length"] = of["length"]
        wide = of["heads"] * of["width"]
        shape = of["batch"], of["length"], 3 * wide
        whole = torch.randn(shape, device="cuda", dtype=dtype, requires_grad=learns)
        q, k, v = (
            each.view(of["batch"], of["length"], of["heads"], of["width"]).transpose(1, 2)
            for each in whole.split(wide, dim=2)
        )
    else:
        q = made(of["heads"], of["length"])
        k, v = (made(of["key_heads"], of["key_length"]) for _ in range(2))
    mask = None
    if of["mask"]:
        of["causal"] = False
        mask = torch.ones(of["length"], of["key_length"], device="cuda", dtype=torch.bool).tril()
        mask = mask if of["mask"] == "bool" else mask.to(dtype)
    options: dict[str, Any] = {
        "attn_mask": mask, "dropout_p": of["dropout"], "is_causal": of["causal"],
        "enable_gqa": of["heads"] != of["key_heads"],
    }  # fmt: skip
    found: dict[str, Any] = {"kernel": KERNELS[int(torch._fused_sdp_choice(q, k, v, **options))]}
    torch.cuda.synchronize()
    watch()
    out = F.scaled_dot_product_attention(q, k, v, **options)
    torch.cuda.synchronize()
    found["forward"] = seen()
    found["out_stride"] = list(out.stride())
    torch.cuda.memory._record_memory_history(enabled=None)
    if learns:
        gradient = torch.randn_like(out)
        torch.cuda.synchronize()
        watch()
        torch.autograd.grad(out, [q, k, v], gradient)
        torch.cuda.synchronize()
        found["backward"] = seen()
        torch.cuda.memory._record_memory_history(enabled=None)
    return found


def main() -> None:
    """Measure as many calls as fit into the budget."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--budget", type=float, default=60, help="seconds (default 60)")
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    options = parser.parse_args()
    chance, rows = random.Random(options.seed), list[dict[str, Any]]()
    deadline = time.monotonic() + options.budget
    for _ in range(options.count):
        of = drawn(chance)
        if time.monotonic() > deadline:
            break
        if of["batch"] * of["heads"] * of["length"] * of["key_length"] > 1 << 32:
            continue
        try:
            found = called(of)
        except RuntimeError as error:
            found = {"error": str(error).splitlines()[0][:200]}
        rows.append({**of, **found})
    write(options.out, described(), "calls", rows)


if __name__ == "__main__":
    main()
