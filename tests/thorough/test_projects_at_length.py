"""Projects whose model.py is their own: it is read, and what cannot be read is named.

These take seconds each.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.command import nanolint
from tests.support.model_text import FUSED_ADAMW
from tests.unit.run.settling import settle

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

from tests.unit.interpreter.test_projects import CARD, GATED, SMALL


def test_a_run_that_is_short_by_less_than_the_error_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = (*SMALL, "n_embd=256", "block_size=256", "batch_size=64", "compile=False")
    settle(tmp_path, "\n".join(sizes), on=CARD, files={"model.py": GATED + FUSED_ADAMW})
    monkeypatch.chdir(tmp_path)
    config = next(path for path in tmp_path.rglob("*.py") if path.read_text() == "\n".join(sizes))
    explain = nanolint("explain", str(config), "--isolated", "--gpu=24GiB", "--format=json")
    peak = json.loads(explain.out)["peak"]

    def severity(share: float) -> str:
        total = peak["reserved_bytes"] * share + peak["context_bytes"]
        card = f"--gpu={total / 2**30:.5f}GiB"
        found = json.loads(
            nanolint(str(config), "--isolated", card, "--output-format=json", "--select=NL1").out
        )
        return found[0]["severity"] if found else ""

    assert severity(0.985) == "warning"
    assert severity(0.9) == "error"
