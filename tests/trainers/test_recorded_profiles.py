"""The profiles that come with nanolint: whole, small, and no further off than they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.memory.allocator.play import play
from nanolint.memory.profile import tape_of
from nanolint.run.profile_file import read
from nanolint.trainers.profiles import SHIPPED

if TYPE_CHECKING:
    from pathlib import Path

EACH = pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.json")), ids=lambda path: path.stem)


@EACH
def test_it_is_a_few_kilobytes_and_its_tapes_can_be_played(path: Path) -> None:
    content = path.read_bytes()
    assert len(content) < 32_000
    profile = read(content)
    for regime in profile.regimes:
        peaks = [
            play(tape_of(regime, profile.kinds, batch)).peak_reserved_bytes
            for batch in (regime.low, regime.high)
        ]
        assert 0 < peaks[0] <= peaks[1]


@EACH
def test_the_margin_is_that_of_what_was_held_out(path: Path) -> None:
    profile = read(path.read_bytes())
    assert profile.held_out
    for each in profile.held_out:
        regime = profile.regime(each.batch_size, each.micro_steps)
        assert regime is not None
        reserved = play(tape_of(regime, profile.kinds, each.batch_size)).peak_reserved_bytes
        assert abs(each.reserved_bytes) * 1000 <= profile.error_per_mille * reserved
