"""Which line makes what: against PyTorch's own frames, and what is said of each line."""

from __future__ import annotations

from typing import Any

import pytest

from nanolint.gpus.lookup import find
from nanolint.run.program import SourceText
from nanolint.verdict.lines import Lines, lines_of
from nanolint.verdict.waste import Waste
from validation import accuracy
from validation.read_models import Case
from validation.record_lines import figures_of, read_lines
from validation.record_read import CARD, TORCH, case_of

GPU = find(CARD).gpu
ROWS = accuracy.recorded("lines")
MODEL = """\
import torch
import torch.nn as nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self, vocab_size, width, caps=False, keeps=False, masks=False):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, width)
        self.head = nn.Linear(width, vocab_size, bias=False)
        self.caps, self.keeps, self.masks = caps, keeps, masks
        self.seen = []

    def forward(self, idx, targets=None):
        x = self.wte(idx)
        if self.masks:
            for _ in range(3):
                x = self.mix(x)
        logits = self.head(x)
        if self.caps:
            logits = logits.float()
            logits = 15 * torch.tanh(logits / 15)
        if self.keeps:
            self.seen.append(logits.detach().exp())
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
        return logits, loss

    def mix(self, x):
        scores = x @ x.transpose(1, 2)
        scores = scores.unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        return weights.squeeze(1) @ x
"""


def row(text: str) -> int:
    return next(at for at, line in enumerate(MODEL.splitlines(), 1) if text in line)


def lines(*, compile: bool = False, **arguments: Any) -> Lines:
    case = Case(
        sources=(SourceText("net", "net.py", MODEL),),
        folder=__file__,  # type: ignore[arg-type]
        cls="Net",
        config=None,
        arguments={"vocab_size": 4096, "width": 128, **arguments},
        batch_size=2,
        block_size=512,
        vocab_size=4096,
        dtype="bfloat16",
        compile=compile,
    )
    found = lines_of(case.run(TORCH), GPU)
    assert isinstance(found, Lines)
    return found


def waste(found: Lines, text: str) -> tuple[Waste, ...]:
    return next((each.waste for each in found.lines if each.line.number == row(text)), ())


@pytest.mark.parametrize("recorded", ROWS, ids=lambda each: str(each["name"]))
def test_each_allocation_is_of_the_line_that_pytorch_names(recorded: dict[str, Any]) -> None:
    found = figures_of(*read_lines(case_of(recorded), GPU))
    assert found == {key: recorded[key] for key in found}
    assert sum(found["kept"].values()) > 0


def test_lines_and_what_is_of_none_add_up_to_the_peak() -> None:
    for compile in (False, True):
        found = lines(caps=True, compile=compile)
        held = sum(each.peak_bytes for each in found.lines)
        assert held + sum(nbytes for _, nbytes in found.elsewhere) == found.peak_bytes
        assert held > found.peak_bytes // 2


def test_a_line_counts_the_calls_of_its_function() -> None:
    found = {each.line.number: each for each in lines(masks=True).lines}
    assert found[row("weights = ")].calls == 3
    assert found[row("logits = self.head(x)")].calls == 1


def test_float32_logits_are_named_and_half_ones_are_not() -> None:
    found = lines(caps=True)
    assert Waste.FLOAT32_LOGITS in waste(found, "torch.tanh")
    assert Waste.FLOAT32_LOGITS not in waste(found, "self.head(x)")


def test_a_square_of_the_context_is_named() -> None:
    assert Waste.SQUARE in waste(lines(masks=True), "F.softmax")
    assert Waste.SQUARE not in waste(lines(masks=True), "self.head(x)")


def test_what_a_list_collects_piles_up_and_a_name_lives_into_the_next_pass() -> None:
    found = lines(keeps=True)
    assert Waste.PILES_UP in waste(found, "self.seen.append")
    assert Waste.NEXT_PASS not in waste(found, "self.seen.append")
    assert Waste.NEXT_PASS in waste(lines(), "self.head(x)")


def test_a_fused_kernel_belongs_to_a_line_of_the_model() -> None:
    found = lines(caps=True, compile=True)
    assert found.kept_elsewhere < found.kept_bytes // 100
    assert row("cross_entropy") in {each.line.number for each in found.lines}


def test_nanogpts_own_run_has_no_lines() -> None:
    run = case_of(ROWS[0]).run(TORCH)
    own = run.having(program=None, n_layer=3, n_head=4, n_embd=64, bias=True)
    why = lines_of(own, GPU)
    assert isinstance(why, str) and "nanolint found no training script" in why
