"""What stands in a file is shown, and never obeyed by the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.settings.formats import FORMATS
from tests.support.command import nanolint

if TYPE_CHECKING:
    from pathlib import Path

TITLE, CLEAR, NEXT_LINE = "\x1b]0;owned\x07", "\x1b[2J", "\x85"
TEXT = f"n_embd = 384  # {TITLE}{CLEAR}\nn_head = 5\nbackend = '{CLEAR}{NEXT_LINE}'  # {TITLE}\n"


@pytest.mark.parametrize("style", [*(f"--output-format={name}" for name in FORMATS), "--diff"])
def test_no_report_holds_control_characters(
    style: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.py").write_text(TEXT, encoding="utf-8")
    outcome = nanolint("x.py", "--gpu=12GB", "--unsafe-fixes", style)
    said = outcome.out + outcome.err
    assert [each for each in said if (each < " " and each != "\n") or "\x7f" <= each < "\xa0"] == []
