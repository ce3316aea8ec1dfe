"""What torch.compile makes of a single operation is not known: the number is one of two bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

WEIGHTED = TEXTS["compiled: rows apart"].replace(
    "targets.view(-1))", "targets.view(-1), weight=torch.ones(V, device=idx.device))"
)
WHY = "torch.compile of a loss of weighted classes"


def test_a_verdict_that_both_share_is_trusted_and_its_number_left_open(tmp_path: Path) -> None:
    found = explained(tmp_path, WEIGHTED, card="rtx-4090")
    assert (found["trust"], found["doubts"]) == ("read", [])
    (left,) = found["left_open"]
    assert left.startswith(WHY)
    assert "which takes more" in left


def test_a_verdict_that_they_do_not_share_is_in_doubt(tmp_path: Path) -> None:
    found = explained(tmp_path, WEIGHTED, card="0.3GiB")
    assert any(WHY in str(each) for each in found["doubts"])
