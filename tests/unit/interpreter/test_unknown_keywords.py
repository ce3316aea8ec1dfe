"""A keyword that nanolint does not know, of a class of a library: an error if no release of PyTorch
has it, else a doubt with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.interpreter.torch import signatures
from validation.read_scripts import NotRead, read_whole

if TYPE_CHECKING:
    from pathlib import Path

LEARNS = "model.parameters(), lr=0.1"
MADE = (
    *(f"nn.{name}" for name in ("Linear(8, 8", "Embedding(8, 8", "LayerNorm(8", "RMSNorm(8")),
    *(f"nn.{name}" for name in ("Dropout(0.1", "GELU('none'", "Conv1d(8, 8, 1", "BatchNorm1d(8")),
    *(f"nn.{name}" for name in ("MultiheadAttention(8, 2", "TransformerEncoderLayer(8, 2")),
    *(f"nn.{name}" for name in ("CrossEntropyLoss(reduction='mean'", "DataParallel(model, [0]")),
    *(f"torch.optim.{name}({LEARNS}" for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adafactor")),
    "torch.optim.Muon([model.weight], lr=0.1",
    *("torch.amp.GradScaler('cuda'", "torch.autocast('cuda'", "model = torch.compile(model"),
    *("nn.parallel.DistributedDataParallel(model", "torch.distributed.init_process_group('nccl'"),
    *(f"torch.utils.data.{name}" for name in ("DataLoader([0], 8", "RandomSampler([0]")),
    "torch.utils.data.DistributedSampler([0], 1, 0",
)
BEFORE = """import torch
import torch.distributed
import torch.utils.data
from torch import nn
model = nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
AFTER = """
for step in range(4):
    loss = model(torch.randn(4, 8, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_a_keyword_that_no_release_has_stops_the_run(tmp_path: Path) -> None:
    for line in ("nn.Linear(8, 8", "torch.optim.AdamW(model.parameters()"):
        text = f"{BEFORE}{line}, never_heard_of=1){AFTER}"
        (tmp_path / "train.py").write_text(text, encoding="utf-8")
        with pytest.raises(NotRead, match="got an unexpected keyword argument 'never_heard_of'"):
            read_whole(tmp_path, "python train.py", "a100-80gb", (2, 15), eager=False)


def test_a_keyword_that_is_not_known_is_a_doubt_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signatures, "takes_no", lambda *_: False)
    lines = [f"{each}, never_heard_of=1)" for each in MADE]
    (tmp_path / "train.py").write_text(BEFORE + "\n".join(lines) + AFTER, encoding="utf-8")
    found = read_whole(tmp_path, "python train.py", "a100-80gb", (2, 15), eager=False)
    doubts = [each for each in found.doubts if "never_heard_of" in each]
    first = BEFORE.count("\n") + 1
    silent = [
        each
        for line, each in enumerate(MADE, start=first)
        if not any(f"(train.py:{line})" in doubt for doubt in doubts)
    ]
    assert silent == []
