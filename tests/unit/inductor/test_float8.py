"""A script whose linear layers multiply in float8, eagerly and compiled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.gpus.lookup import find
from nanolint.interpreter.values import Unread
from nanolint.recording.recording import allocated_peak, record
from nanolint.run.program import ReadScript, SourceText
from nanolint.trainers.nanogpt.resolve import default_run

if TYPE_CHECKING:
    from nanolint.tape.tape import Tape

SCRIPT = """
import torch
import torch.nn as nn

@torch.no_grad()
def quantized(x, kind):
    most = torch.finfo(kind).max
    scale = (most / x.float().abs().max().double().clamp(min=1e-12)).float()
    return (x.float() * scale).clamp(-most, most).to(kind), scale.reciprocal()

@torch._dynamo.allow_in_graph
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        a, of_a = quantized(x, torch.float8_e4m3fn)
        b, of_b = quantized(weight, torch.float8_e4m3fn)
        ctx.save_for_backward(a, of_a, b, of_b)
        return torch._scaled_mm(a, b.t(), scale_a=of_a, scale_b=of_b, out_dtype=x.dtype)

    @staticmethod
    def backward(ctx, g):
        a, of_a, b, of_b = ctx.saved_tensors
        c, of_c = quantized(g, torch.float8_e5m2)
        columns = b.t().contiguous().t()
        of_x = torch._scaled_mm(c, columns, scale_a=of_c, scale_b=of_b, out_dtype=g.dtype)
        rows, columns = c.t().contiguous(), a.t().contiguous().t()
        return of_x, torch._scaled_mm(rows, columns, scale_a=of_c, scale_b=of_a, out_dtype=g.dtype)

class Linear(nn.Linear):
    def forward(self, x):
        return Product.apply(x.to(torch.bfloat16), self.weight)

model = nn.Sequential(*(Linear(1024, 1024, bias=False) for _ in range(8))).cuda()
if {compiled}:
    model = torch.compile(model, dynamic=False)
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for step in range(10):
    model(torch.zeros((65536, 1024), device="cuda", dtype=torch.bfloat16)).sum().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
"""


def read(*, compiled: bool, card: str = "h100-80gb") -> Tape:
    source = SourceText("__main__", "train.py", SCRIPT.format(compiled=compiled))
    program = ReadScript((source,), values=(), words=(), variables=(), vocabulary=None)
    return record(replace(default_run(), torch=(2, 9), program=program), find(card).gpu)


def test_each_layer_keeps_a_byte_for_each_element() -> None:
    tape = read(compiled=False)
    kept = 8 * 65536 * 1024
    passing = 65536 * 1024 * 4 * 2  # the float32 copies that one quantization has at once
    assert kept + passing < allocated_peak(tape) < kept + 3 * passing
    assert not tape.doubts


def test_what_is_compiled_is_doubted() -> None:
    tape = read(compiled=True)
    assert allocated_peak(tape) < allocated_peak(read(compiled=False))
    assert [each for each in tape.assumed if "Product" in each]


@pytest.mark.parametrize("compiled", [True, False])
def test_a_card_without_float8_ends_the_run(compiled: bool) -> None:
    with pytest.raises(
        Unread, match=r"needs compute capability 8\.9, and RTX 3090 has 8\.6"
    ) as why:
        read(compiled=compiled, card="rtx-3090")
    assert "train.py:" in str(why.value)
    assert read(compiled=compiled, card="rtx-4090").sizes
