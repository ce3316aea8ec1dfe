"""The hint beside batch_size, and the line above the file.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.lsp.load import code_lenses, inlay_hints
from tests.support.lsp_configs import SMALL, context_of
from tests.support.project_tree import TWICE, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.lsp.test_inlay_hints import TOO_LARGE


def test_what_is_only_estimated_is_marked_and_the_reason_told(tmp_path: Path) -> None:
    path = write_project(tmp_path, {"train.py": train_script(loop=TWICE)}) / "x.py"
    (hint,) = inlay_hints(context_of(SMALL, path=path), SMALL)
    assert hint.label.startswith("~")
    assert "\nnot certain: assuming " in hint.tooltip
    (hint,) = inlay_hints(context_of(SMALL, gpu="rtx-4070-super"), SMALL)
    assert hint.label.endswith(" of ~11.6 GiB")


def test_of_several_cards_the_one_with_the_least_room_is_told() -> None:
    (hint,) = inlay_hints(context_of(SMALL, gpu="a100-80gb,rtx-3060,rtx-4090"), SMALL)
    assert hint.label.endswith(" on RTX 3060 12GB")


def test_every_card_has_a_lens_of_its_own() -> None:
    lenses = code_lenses(context_of(TOO_LARGE, gpu="8xa100-80gb,rtx-4070"))
    assert [lens.partition(" | ")[0] for lens in lenses] == ["8x A100 80GB", "RTX 4070"]
    assert "out of memory, " in lenses[1] and " short |" in lenses[1]
