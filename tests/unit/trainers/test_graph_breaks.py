"""A compiled model that asks for numbers: where its graph ends before, and where it cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.support.explained import explained
from tests.unit.trainers.test_whole_scripts import SCRIPT

if TYPE_CHECKING:
    from pathlib import Path

LOSS = "return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))"
COMPILED = SCRIPT.replace("Net().cuda()", "torch.compile(Net().cuda())")


@pytest.mark.parametrize("number", ["loss.item()", "loss.detach().item()", "x.mean().item()"])
def test_a_number_that_is_asked_for_at_the_end_is_no_doubt(tmp_path: Path, number: str) -> None:
    plain = explained(tmp_path, COMPILED)
    told = LOSS.replace("return", "loss =") + f"; kept = {{'loss': {number}}}; return loss"
    found = explained(tmp_path, COMPILED.replace(LOSS, told))
    assert (found["trust"], found["doubts"]) == ("read", [])
    # A mean takes part in another kernel, and is a result of its own.
    assert abs(found["peak"]["allocated_bytes"] - plain["peak"]["allocated_bytes"]) <= 1024


@pytest.mark.parametrize(
    "body",
    [
        "self.last = x.mean().item(); x = x * 2; " + LOSS,
        "self.tell(x); " + LOSS,
    ],
)
def test_a_graph_behind_a_number_is_a_doubt(tmp_path: Path, body: str) -> None:
    tells = "    def tell(self, x):\n        self.last = x.mean().item()\n    def forward"
    text = COMPILED.replace(LOSS, body).replace("    def forward", tells)
    path = tmp_path / "train.py"
    path.write_text(text, encoding="utf-8")
    said = " ".join(nanolint("explain", str(path), "--gpu", "1GiB").out.split())
    assert "torch.compile of a graph break at train.py:" in said


def test_what_depends_on_values_in_a_graph_is_not_read_around(tmp_path: Path) -> None:
    """Experts, each of which takes the tokens that a mask leaves it."""
    forward = "    def forward(self, idx, targets):"
    mixed = """
        flat = x.view(-1, x.size(-1))
        places = torch.arange(flat.size(0), device=x.device)
        chosen = targets.view(-1) > 0
        at = places[chosen]
        taken, out = torch.zeros_like(flat), torch.zeros_like(flat)
        taken[at] = flat[at]
        done = self.inner[0](taken)
        out.index_add_(0, at, done[at])
        return x + out.view_as(x)"""
    head = "logits = self.head(x)"
    text = COMPILED.replace(forward, f"    def mixed(self, x, targets):{mixed}\n{forward}")
    assert explained(tmp_path, text)["trust"] == "read"
    found = explained(tmp_path, text.replace(head, f"x = self.mixed(x, targets)\n        {head}"))
    assert found["trust"] == "unknown"
