"""NL101, NL102 and NL104 report one thing in three shapes: one left out leaves it to NL101."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint

if TYPE_CHECKING:
    from pathlib import Path

LOGITS = "batch_size = 64\nblock_size = 1024\n"


def reported(path: Path, *told: str, text: str = LOGITS) -> list[str]:
    path.write_text(text)
    out = nanolint(
        "--gpu", "rtx-3060", "--select", "NL1", "--output-format", "concise", *told, str(path)
    ).out
    return [word[:5] for word in out.split() if word.startswith("NL1")]


@pytest.mark.parametrize(
    ("told", "codes"),
    [
        ((), ["NL102"]),
        (("--ignore", "NL102"), ["NL101"]),
        (("--ignore", "oversized-logits"), ["NL101"]),
        (("--per-file-ignores", "*.py:NL102"), ["NL101"]),
        (("--ignore", "NL101"), ["NL102"]),
        (("--ignore", "NL101,NL102"), []),
    ],
)
def test_ignoring_one_shape_does_not_hide_the_failure(
    told: tuple[str, ...], codes: list[str], tmp_path: Path
) -> None:
    assert reported(tmp_path / "a.py", *told) == codes


def test_a_comment_silences_the_failure_in_whatever_shape(tmp_path: Path) -> None:
    text = LOGITS.replace("64\n", "64  # nanolint: ignore[NL101]\n")
    assert reported(tmp_path / "a.py", text=text) == []
