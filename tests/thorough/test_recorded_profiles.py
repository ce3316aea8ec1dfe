"""The profiles that come with nanolint: whole, small, and no further off than they say."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from nanolint.gpus.lookup import find
from nanolint.profiles.profiles import SHIPPED
from nanolint.recording.recording import allocated_peak
from nanolint.run.profile_file import read
from nanolint.run.program import Profiled
from nanolint.tape.allocator.play import play
from nanolint.tape.profile import profiled, tape_of
from nanolint.verdict.replay import replay
from tests.support.runs import GPT2

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


def test_what_lies_between_the_traced_is_left_out_and_the_published_peak_is_reproduced() -> None:
    """Of autoresearch's baseline, 45,060.2 MiB on an H100; 129 sequences were not traced."""
    profile = read((SHIPPED / "autoresearch-sm90.json").read_bytes())
    assert profile.regime(129, 2) is None
    peak = allocated_peak(profiled(profile, 128, 2))
    assert peak / 2**20 == pytest.approx(45_060.2, rel=0.001)
    assert {each.batch_size for each in profile.held_out} == {384}


def test_what_several_processes_evaluate_is_as_it_was_traced() -> None:
    """Not as one graph, which torch.compile's would be if nanolint had derived it."""
    content = (SHIPPED / "nanochat-d12-sm90-x8.json").read_bytes()
    derived = replace(GPT2, batch_size=32, gradient_accumulation_steps=1, world_size=8)
    card = find("8xh100-80gb").gpu
    traced = replace(derived, program=Profiled(sha256(content).hexdigest(), read(content)))
    assert replay(derived, card).split and not replay(traced, card).split


@EACH
def test_the_margin_is_that_of_what_was_held_out(path: Path) -> None:
    profile = read(path.read_bytes())
    assert profile.held_out
    for each in profile.held_out:
        regime = profile.regime(each.batch_size, each.micro_steps)
        assert regime is not None
        reserved = play(tape_of(regime, profile.kinds, each.batch_size)).peak_reserved_bytes
        assert abs(each.reserved_bytes) * 1000 <= profile.error_per_mille * reserved
