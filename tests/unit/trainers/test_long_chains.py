"""Where more than a hundred operations could be one kernel, the partitioner keeps what is next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.explained import explained
from validation.record_variations import CARD
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path


def test_an_activation_in_two_bytes_keeps_what_it_casts_first(tmp_path: Path) -> None:
    text = TEXTS["kinds: parallel blocks, the loss in checkpoints"].replace(
        "checkpoint(self.chunk_loss, hs, ys, use_reentrant=False)", "self.chunk_loss(hs, ys)"
    )
    found = explained(tmp_path, text, "--torch-version", "2.11", card=CARD)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == 313_811_456  # traced with 2.11.0
