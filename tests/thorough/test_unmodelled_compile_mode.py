from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.harness import Bench
from tests.support.project_tree import SETUP, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

CALL = "torch.compile(model)"


def marked(folder: Path, call: str, settings: str = "") -> list[str]:
    """What is found in a train.py that compiles with ``call``."""
    assert CALL in SETUP
    text = train_script(setup=SETUP.replace(CALL, call), extra_settings=settings)
    write_project(folder, {"train.py": text})
    return Bench("NL412", path=folder / "train.py").marked(text)


@pytest.mark.parametrize(
    ("call", "settings", "found"),
    [
        ("torch.compile(model, mode='max-autotune')", "", "mode='max-autotune'"),
        ("torch.compile(model, mode=how)", "how = 'reduce-overhead'\n", "mode=how"),
        ("torch.compile(model, backend='eager')", "", "backend='eager'"),
        ("torch.compile(\n  model, options=(  # größer\n  given))", "", None),
    ],
    ids=["mode", "setting", "backend", "options over lines"],
)
def test_reported(tmp_path: Path, call: str, settings: str, found: str | None) -> None:
    assert marked(tmp_path, call, settings) == [found or "options=(  # größer\n  given)"]


@pytest.mark.parametrize(
    ("call", "settings"),
    [
        (CALL, ""),
        ("torch.compile(model, mode=None)", ""),
        ("torch.compile(model, mode=how)", "how = 'default'\n"),
        ("torch.compile(model, mode=choose())", ""),
        ("torch.compile(model, fullgraph=True)", ""),
        ("fabric.compile(model, mode='max-autotune')", ""),
    ],
    ids=["nanoGPT's", "none", "setting", "known at run time only", "another argument", "not torch"],
)
def test_not_reported(tmp_path: Path, call: str, settings: str) -> None:
    assert marked(tmp_path, call, settings) == []
