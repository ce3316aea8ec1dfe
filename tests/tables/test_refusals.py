"""What PyTorch and Python refuse, as recorded: nanolint stops there with the same words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nanolint.diagnostics import Safety
from nanolint.gpus.lookup import find
from nanolint.linting import registry
from nanolint.linting.engine import lint
from nanolint.linting.setup import Setup
from nanolint.source.text import apply_edits
from validation.refusals import INSIDE, WRITTEN, scripts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ROWS = json.loads(WRITTEN.read_text("utf-8"))
SCRIPTS = scripts()
# The host's kernels say the same in other words than a card's.
OTHER_WORDS = frozenset(
    {
        *("matmul types", "masked_fill", "masked_fill sizes", "attention mask"),
        *("embedding of fractions", "embedding of small numbers", "put dimensions"),
        *(f"{each} of whole numbers" for each in ("softmax", "activation", "norm")),
    }
)
# The host raises IndexError, a card an error that is reported at some later line.
ASSERTED = ("RuntimeError", "CUDA error: device-side assert triggered")
ON_CARD = frozenset({"a row of a table", "numbers by chance", "an index", "class beyond"})
LOOKS_UP = "nn.functional.embedding(torch.arange(COUNT, device='cuda'), net[0].weight[:96])"


@pytest.fixture(scope="module", name="setup")
def with_setup() -> Setup:
    rules = tuple(each for each in registry.load().rules if each.code.startswith("NL6"))
    return Setup(rules=rules, known_codes={}, targets=(find("rtx-4090"),))


@pytest.mark.parametrize("name", ROWS)
def test_it_stops_where_pytorch_does(name: str, setup: Setup, tmp_path: Path) -> None:
    found = lint(SCRIPTS[name], tmp_path / "train.py", setup).diagnostics
    if ROWS[name] == "runs":
        assert [each.message for each in found] == []
        return
    kind, words = ASSERTED if name in ON_CARD else ROWS[name]
    (finding,) = found
    raised, _, said = finding.message.partition(": ")[2].partition(": ")
    assert raised == kind
    if name not in OTHER_WORDS:  # of a changed tensor PyTorch names the operation and the versions
        assert said.startswith(words.partition(": [")[0])


@pytest.mark.parametrize(
    ("name", "old", "new", "safety"),
    [
        ("view", ".view(", ".reshape(", Safety.SAFE),
        ("rms_norm argument", "epsilon=", "eps=", Safety.UNSAFE),
        ("linear argument", "biass=", "bias=", Safety.UNSAFE),
    ],
)
def test_what_was_meant_is_a_fix(
    name: str, old: str, new: str, safety: Safety, setup: Setup, tmp_path: Path
) -> None:
    path = tmp_path / "train.py"
    path.write_text(SCRIPTS[name])
    (finding,) = lint(SCRIPTS[name], path, setup).diagnostics
    assert finding.fix is not None and finding.fix.safety is safety
    mended = apply_edits(SCRIPTS[name], finding.fix.edits)
    assert mended == SCRIPTS[name].replace(old, new)
    assert not lint(mended, path, setup).diagnostics


COMPILED = """import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.Sequential(nn.Embedding(96, 32), nn.Linear(32, 96))

    def forward(self, x):
        net = self.parts
        h = net[0](x)
        {line}
        return net[1](h)


net = torch.compile(Net().cuda())
optimizer = torch.optim.AdamW(net.parameters())
for step in range(20):
    x = torch.randint(96, (4, 10), device="cuda")
    loss = F.cross_entropy(net(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    "name",
    [
        *("linear type", "bias", "addmm bias", "where", "masked_fill", "split", "cat", "stack"),
        *("gather type", "embedding of fractions", "a row of a table", "layer_norm", "rms_norm"),
        *("mm sizes", "attention types", "view", "mul sizes"),
    ],
)
def test_compiled_code_is_checked_as_any_other(name: str, setup: Setup, tmp_path: Path) -> None:
    for line, expected in ((INSIDE[name], 1), ("pass", 0)):
        text = COMPILED.format(line=line)
        path = tmp_path / "train.py"
        path.write_text(text)
        assert len(lint(text, path, setup).diagnostics) == expected


@pytest.mark.parametrize(
    ("old", "values"),
    [
        ("ROWS = 96", ((96, False), (97, False), (98, False), (40, True), (99, False))),
        ("COUNT = 8", ((8, False), (9, False), (10, False), (97, True), (98, True), (11, False))),
        ("BETA = 0", ((0, False), (0.5, False), (1, True), (2, True))),
    ],
)
def test_what_was_read_before_changes_nothing(
    old: str, values: Sequence[tuple[float, bool]], setup: Setup, tmp_path: Path
) -> None:
    """Runs that differ in a number alone share a reading; what refuses one may take another."""
    named = "ROWS = 96\nCOUNT = 8\nBETA = 0\nnet = "
    script = (
        SCRIPTS["mm fits"].replace("net = ", named, 1).replace("Embedding(96", "Embedding(ROWS")
    )
    script = script.replace("lr=1e-3)", "lr=1e-3, betas=(0.9, BETA))")
    script = script.replace("(4, 9)", "(64, 64)").replace("h[0] @ h[1].T", LOOKS_UP)
    assert named in script and LOOKS_UP in script and "betas" in script
    for value, stops in values:
        text = script.replace(old, f"{old.partition('=')[0]}= {value}")
        found = lint(text, tmp_path / "train.py", setup).diagnostics
        assert bool(found) == stops, (value, found)
