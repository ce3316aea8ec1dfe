"""The variations on other releases of PyTorch and other cards, as traces recorded them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from validation.record_variations import ELSEWHERE, digest, rows
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path


RESERVED_OTHERWISE = {
    "2.13 h100-sxm-80gb: kinds: masked diffusion",  # 34 MiB, as elsewhere
    "2.13 h100-sxm-80gb: kinds: relative buckets, z-loss, Adafactor",  # 2 MiB
    "2.13 rtx-4090: kinds: steps until it halts",  # 2 MiB
}


@pytest.mark.parametrize("key", rows(ELSEWHERE))
def test_what_is_read_is_what_that_release_takes_on_that_card(tmp_path: Path, key: str) -> None:
    where, name = key.split(": ", 1)
    release, card = where.split()
    row = rows(ELSEWHERE)[key]
    assert row["text"] == digest(name)
    found = explained(tmp_path, TEXTS[name], "--torch-version", release, card=card)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == row["allocated"]
    assert (found["peak"]["reserved_bytes"] == row["reserved"]) is (key not in RESERVED_OTHERWISE)
