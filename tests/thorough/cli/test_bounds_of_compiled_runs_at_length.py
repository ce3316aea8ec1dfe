"""Where a compiled graph cannot be derived, a verdict that both of its bounds share is trusted.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
from tests.stories.cli.test_bounds_of_compiled_runs import checked


def test_what_lies_between_the_bounds_is_in_doubt(tmp_path: Path) -> None:
    status, (found,) = checked(tmp_path, "batch_size=90000")
    assert status == 1
    assert found["trust"] == "doubted"
    assert any("cummax" in each for each in found["doubts"])
