"""Composed scripts make as many kernels as PyTorch 2.15 does, before any are launched together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nanolint.inductor.derive.fusion import fuse
from tests.support.explained import explained
from validation.composed import composed
from validation.record_variations import CARD

if TYPE_CHECKING:
    from pathlib import Path

# By number, of each graph: the nodes that torch/_inductor/scheduler.py, ``fuse_nodes``, was given.
MADE = {
    754: (103, 125),  # a copy of the turned keys, which lie as they are read
    774: (127, 150, 195),  # gradients of ELU lie as its input
    790: (146, 230),  # a sum over two groups of heads takes too many steps to be computed twice
}


@pytest.mark.parametrize("number", MADE)
def test_a_script_makes_the_kernels_that_pytorch_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    made: list[int] = []

    def counted(kernels: Any, *how: Any) -> Any:
        made.append(len(kernels))
        return fuse(kernels, *how)

    monkeypatch.setattr("nanolint.inductor.derive.plans.fuse", counted)
    monkeypatch.setattr("nanolint.inductor.derive.plans._known", {})
    explained(tmp_path, composed(number), "--torch-version", "2.15", card=CARD)
    assert tuple(made[: len(MADE[number])]) == MADE[number]
