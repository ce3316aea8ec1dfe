"""The operations of matrix products, counted while a script is read: torch's flop_counter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.gpus.lookup import find
from nanolint.recording.recording import record
from nanolint.run.program import ReadScript, SourceText
from nanolint.run.run import Attention, Run
from nanolint.tape.tape import Step
from nanolint.trainers.nanogpt.resolve import default_run
from nanolint.verdict.speed import speed
from tests.support.runs import GPT2

B, T, C, H, V, LAYERS = 2, 64, 128, 4, 512, 6
SCRIPT = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm({C})
        self.qkv = nn.Linear({C}, 3 * {C})
        self.out = nn.Linear({C}, {C}, bias=False)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).split({C}, dim=2)
        q, k, v = (each.view({B}, {T}, {H}, -1).transpose(1, 2) for each in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(y.transpose(1, 2).reshape({B}, {T}, {C}))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding({V}, {C})
        self.blocks = nn.ModuleList([Block() for _ in range({layers})])
        self.head = nn.Linear({C}, {V}, bias=False)

    def forward(self, x, y):
        h = self.table(x)
        for block in self.blocks:
            h = {call}
        logits = self.head(h)
        return F.cross_entropy(logits.view(-1, {V}), y.view(-1))

{above}
model = Net().cuda()
{compile}
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x = torch.zeros(({B}, {T}), dtype=torch.long, device="cuda")
for step in range(100):
    if step % 2 == 0:
        model.eval()
        with torch.no_grad():
            for _ in range(20):
                model(x, x)
        model.train()
    for micro in range({passes}):
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled={half}):
            loss = model(x, x)
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
ROWS = B * T
# Forward, and twice as much backward; flash attention's backward pass takes five products to two.
BLOCK = 2 * ROWS * C * (3 * C + C)
ATTENTION = 2 * 2 * ROWS * T * C
HEAD = 2 * ROWS * C * V
PASS = LAYERS * (3 * BLOCK + ATTENTION * 7 // 2) + 3 * HEAD


def run_of(
    *,
    passes: int = 1,
    compile: str = "",
    call: str = "block(h)",
    half: bool = True,
    above: str = "",
) -> Run:
    """A run of the script."""
    text = SCRIPT.format(
        B=B, T=T, C=C, H=H, V=V, layers=LAYERS, passes=passes, compile=compile, call=call,
        half=half, above=above,
    )  # fmt: skip
    return replace(
        default_run(),
        compile=bool(compile),
        program=ReadScript((SourceText("__main__", "train.py", text),)),
    )


def steps_of(run: Run) -> list[Step]:
    return record(run, find("rtx-4090").gpu).steps


@pytest.mark.parametrize("compile", ["", "model = torch.compile(model)"])
def test_a_step_is_counted_without_its_evaluations(compile: str) -> None:
    steps = steps_of(run_of(compile=compile))
    assert steps[:3] == [Step((("bfloat16", PASS),), ROWS)] * 3


@pytest.mark.parametrize("passes", [2, 5, 40])
def test_passes_that_are_not_read_again_count(passes: int) -> None:
    assert steps_of(run_of(passes=passes))[2] == Step((("bfloat16", passes * PASS),), passes * ROWS)


@pytest.mark.parametrize("call", ["block(h)", "checkpoint(block, h, use_reentrant=False)"])
def test_layers_that_are_copied_count_as_those_that_are_read(call: str) -> None:
    once_more = LAYERS * (BLOCK + ATTENTION) if "checkpoint" in call else 0
    # A checkpoint stops behind the last tensor that is saved, and the last product saves its own.
    last = LAYERS * 2 * ROWS * C * C if once_more else 0
    ((_, flops),) = steps_of(run_of(call=call))[2].flops
    assert flops == PASS + once_more - last


def test_float32_is_tf32_only_where_the_script_allows_it() -> None:
    card = find("rtx-4090")
    plain = run_of(half=False)
    assert {kind for kind, _ in steps_of(plain)[2].flops} == {"float32"}
    assert speed(plain, card) is None
    for above in (
        "torch.backends.cuda.matmul.allow_tf32 = True",
        "torch.backends.cuda.matmul.fp32_precision = 'tf32'",
        "torch.set_float32_matmul_precision('high')",
    ):
        allowed = run_of(half=False, above=above)
        assert {kind for kind, _ in steps_of(allowed)[2].flops} == {"tf32"}
        assert speed(allowed, card) is not None


def test_speed_follows_the_count() -> None:
    run, card = run_of(passes=4), find("rtx-4090")
    found = speed(run, card)
    assert found is not None
    assert (found.flops, found.tokens) == (4 * PASS, 4 * ROWS)


@pytest.mark.parametrize(
    ("shape", "flops"),
    [  # torch.utils.flop_counter of PyTorch 2.13, of nanoGPT's model.py, forward and backward
        ((2, 4, 128, 64, 3, 512, True, Attention.FLASH), 572_522_496),
        ((3, 2, 96, 32, 2, 304, False, Attention.MATH), 145_686_528),
        ((4, 4, 128, 128, 4, 512, False, Attention.FLASH), 3_087_007_744),
    ],
)
@pytest.mark.parametrize("compile", [False, True])
def test_pytorch_counts_as_many(
    shape: tuple[int, int, int, int, int, int, bool, Attention], flops: int, *, compile: bool
) -> None:
    layers, heads, width, context, batch, words, bias, attention = shape
    run = GPT2.having(
        n_layer=layers, n_head=heads, n_embd=width, block_size=context, batch_size=batch,
        vocab_size=words, bias=bias, attention=attention, compile=compile,
        gradient_accumulation_steps=1,
    )  # fmt: skip
    assert record(run).steps[2] == Step((("bfloat16", flops),), batch * context)
