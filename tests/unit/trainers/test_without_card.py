"""A fork that runs without a card is read too: something of it may be put on one all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.trainers.test_whole_forks import SCRIPT, explained

if TYPE_CHECKING:
    from pathlib import Path

CLIPPED = SCRIPT.replace(
    "return x.to(device), y.to(device)", "return x.clone(), y.clone()"
).replace(
    "    optimizer.step()",
    "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    optimizer.step()",
)


@pytest.mark.parametrize("device", ["cpu", "mps"])
def test_a_changed_loop_on_the_host_puts_nothing_on_a_card(tmp_path: Path, device: str) -> None:
    found = explained(tmp_path, f"device = {device!r}\n", script=CLIPPED)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] is None or found["peak"]["allocated_bytes"] == 0


def test_what_is_put_on_a_card_from_there_has_no_number(tmp_path: Path) -> None:
    script = CLIPPED.replace("meta_vocab_size = None", "held = torch.ones(9, device='cuda')", 1)
    script = script.replace("held =", "meta_vocab_size = None\nheld =")
    found = explained(tmp_path, "device = 'cpu'\n", script=script)
    assert found["trust"] == "unknown"
    assert "the script uses a card" in str(found["unresolved"])
