"""Sums that are split, and whose parts are split again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.inductor.derive.fusion import fuse
from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_parts_of_a_sum_are_split_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient of a scale: 40,960 elements in 5 parts, and these in 64, as 2.11 and 2.13 do."""
    made: list[tuple[int, int]] = []

    def watched(kernels: Any, *how: Any) -> Any:
        made.extend((each.numel, each.rnumel) for each in kernels if each.rnumel > 1)
        return fuse(kernels, *how)

    monkeypatch.setattr("nanolint.inductor.derive.plans.fuse", watched)
    monkeypatch.setattr("nanolint.inductor.derive.plans._known", {})
    text = TEXTS["modern: normalised, hyper-connections"]
    text = text.replace("= 8, 256, 1024,", "= 8, 256, 1088,")  # read by no other test
    explained(tmp_path, text, "--torch-version", "2.13", card="rtx-4090")
    first = made.index((5, 64))
    assert made[first - 1 : first + 2] == [(320, 128), (5, 64), (1, 5)]
