"""Scripts that train on texts, windows and files of their own.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.trainers.test_own_data import HEAD, LOOP, NET, QUEUED, with_fifty


def test_a_long_queue_takes_no_steps_to_read(tmp_path: Path, with_fifty: int) -> None:
    """nanochat of autumn 2025 takes each batch token by token: as many turns as it has tokens."""
    long = QUEUED.replace("range(B * T + 1)", "range(1900 * B * T)")
    fed = LOOP.replace("x, y = get_batch()", "x, y = next(loader)")
    found = explained(tmp_path, HEAD + "vocab_size = 50\nblock_size = T\n" + NET + long + fed)
    assert found["trust"] == "doubted", found["unresolved"]
    assert found["peak"]["allocated_bytes"] == with_fifty


__all__ = ["with_fifty"]  # fixtures
