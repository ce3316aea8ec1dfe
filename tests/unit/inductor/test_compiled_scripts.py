"""``torch.compile`` in a script that is read whole, in the ways in which people write it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.gpus.lookup import find
from nanolint.interpreter.values import Unread
from nanolint.recording.recording import allocated_peak, record
from nanolint.run.program import ReadScript, SourceText
from nanolint.trainers.nanogpt.resolve import default_run
from validation.record_read import CARD, TORCH

if TYPE_CHECKING:
    from nanolint.tape.tape import Tape

SCRIPT = """
import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(512, 256)
        self.up = nn.Linear(256, 1024)
        self.down = nn.Linear(1024, 256)
        self.head = nn.Linear(256, 512, bias=False)

    def forward(self, x, y):
        h = self.table(x)
        h = h + self.down(F.silu(self.up(h)).square() + 1)
        logits = self.head(h)
        return F.cross_entropy(logits.view(-1, 512), y.view(-1))

model = Net().cuda()
{compile}
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
for step in range(10):
    for rows in {rows}:
        x = torch.zeros((rows, 256), dtype=torch.long, device="cuda")
        loss = model(x, x)
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
"""
COMPILED = "model = torch.compile(model)"


def read(compile: str, rows: str = "(8,)") -> Tape:
    """The tape of the script that compiles its model so."""
    text = SCRIPT.format(compile=compile, rows=rows)
    source = SourceText("__main__", "train.py", text)
    program = ReadScript((source,), values=(), words=(), variables=(), vocabulary=None)
    run = replace(default_run(), torch=TORCH, program=program)
    return record(run, find(CARD).gpu)


def peak(compile: str) -> int:
    return allocated_peak(read(compile))


@pytest.mark.parametrize(
    "same", ["model.compile()", f"{COMPILED[:-1]}, fullgraph=True, dynamic=False)"]
)
def test_other_ways_to_compile_a_model_make_the_same_graphs(same: str) -> None:
    tape = read(same)
    assert tape.doubts == []
    assert allocated_peak(tape) == peak(COMPILED)


@pytest.mark.parametrize(
    "none", ["model.compile(disable=True)", f"{COMPILED[:-1]}, backend='eager')"]
)
def test_what_asks_for_no_graphs_is_replayed_as_it_is(none: str) -> None:
    assert peak(none) == peak("") > peak(COMPILED)


@pytest.mark.parametrize("option", ["mode='reduce-overhead'", "mode='max-autotune'"])
@pytest.mark.parametrize("call", ["model.compile(", f"{COMPILED[:-1]}, "])
def test_a_mode_with_other_kernels_or_pools_is_doubted_with_its_line(
    option: str, call: str
) -> None:
    text = f"{call}{option})"
    doubts = read(text).doubts
    line = SCRIPT[: SCRIPT.index("{compile}")].count("\n") + 1
    assert doubts == [f"nanolint does not model torch.compile with {option} (train.py:{line})"]


def test_a_second_size_has_a_graph_of_its_own_where_none_may_change() -> None:
    assert read(f"{COMPILED[:-1]}, dynamic=False)", "(4, 8)").assumed == []
    (assumed,) = read(COMPILED, "(4, 8)").assumed
    assert "changing sizes" in assumed


TEN_SIZES = str(tuple(range(1, 11)))


def test_many_sizes_are_two_graphs_where_they_may_change() -> None:
    """As a sample that grows by a token has: its second graph is of symbolic sizes."""
    (assumed,) = read(COMPILED, TEN_SIZES).assumed
    assert "changing sizes" in assumed


def test_many_sizes_are_more_graphs_than_pytorch_makes_where_none_may_change() -> None:
    with pytest.raises(Unread, match="is called in more than 8 ways"):
        read(f"{COMPILED[:-1]}, dynamic=False)", TEN_SIZES)


EXPERTS = """
import torch
import torch.nn as nn
import torch.nn.functional as F

class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(256, 64)
        self.up = nn.Parameter(torch.randn(4, 64, 512) * 0.02)
        self.down = nn.Parameter(torch.randn(4, 512, 64) * 0.02)

    def forward(self, x):
        h = self.table(x)
        for _ in range(2):
            inner = F.gelu(torch.einsum("btd,edh->beth", h, self.up))
            h = h + torch.einsum("beth,ehd->betd", inner, self.down).sum(1)
        return F.cross_entropy((h @ self.table.weight.T).view(-1, 256), x.view(-1))

model = torch.compile(Experts().cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(10):
    x = torch.randint(256, (8, 128), device="cuda")
    with torch.autocast("cuda", torch.bfloat16):
        loss = model(x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize(("release", "traced"), [((2, 13), 46_342_656), ((2, 15), 34_152_960)])
def test_what_a_batched_product_reads_through_views_is_copied_and_kept(
    release: tuple[int, int], traced: int
) -> None:
    source = SourceText("__main__", "train.py", EXPERTS)
    program = ReadScript((source,), values=(), words=(), variables=(), vocabulary=None)
    run = replace(default_run(), torch=release, program=program, batch_size=8, block_size=128)
    assert allocated_peak(record(run, find(CARD).gpu)) == traced
