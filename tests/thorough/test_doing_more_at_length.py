"""Configs that do more than to set values, and scripts that fail before they have trained.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.unit.trainers.test_whole_forks import SCRIPT, explained

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.trainers.test_doing_more import CONFIG


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (
            "logits, loss, aux = model(*get_batch())",
            "not enough values to unpack (expected 3, got 2)",
        ),
        ("model(*get_batch()).view(-1)", "'tuple' object has no attribute 'view'"),
        ("config = {'a': 1}; config['lr']", "KeyError: 'lr'"),
    ],
)
def test_a_script_whose_own_model_returns_otherwise_is_no_run(
    tmp_path: Path, line: str, error: str
) -> None:
    script = SCRIPT.replace("for it in range(max_iters):", f"{line}\nfor it in range(max_iters):")
    explained(tmp_path, CONFIG, script=script)
    said = " ".join(nanolint("--gpu", "rtx-4070", str(tmp_path / "config")).out.split())
    assert error in said
    assert "error[NL606]: the run stops " in said
