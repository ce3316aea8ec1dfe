"""A profile's file may come from anybody: whatever it holds, it is a profile or it is refused."""

from __future__ import annotations

import base64
import json
import lzma
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanolint.run.profile import LARGEST_SIZE
from nanolint.run.profile_file import NotAProfile, read
from nanolint.tape.profile import tape_of

TAPES: dict[str, Any] = {
    "names": ["model.py:3 wte"],
    "kinds": [[0, 0, 1, 512, 1024], [0, 4, 2, 0, 3, 5]],
    "tapes": [[[0, 1, 1, -1, -2], [[0, 0], [1, 2]]]],
}
FIELDS: dict[str, Any] = {
    "nanolint_profile": 1,
    "traced": "2026-11-20",
    "command": "python train.py",
    "torch": "2.13.0+cu130",
    "compute_capability": [8, 0],
    "multiprocessors": 108,
    "world_size": 1,
    "script": "train.py",
    "files": {"train.py": "00"},
    "settings": {"n_layer": "6"},
    "micro_batch": "batch_size",
    "accumulation": None,
    "error_per_mille": 3,
    "held_out": [[2, 1, -512, 0]],
    "regimes": [[1, 8, 1, [1, 8]]],
}


def content(tapes: Any = TAPES, **changes: Any) -> bytes:
    packed = base64.b64encode(lzma.compress(json.dumps(tapes).encode(), preset=0)).decode()
    return json.dumps({**FIELDS, "tapes": packed, **changes}).encode()


def test_one_that_is_as_it_should_be_is_read() -> None:
    profile = read(content())
    assert profile.release == (2, 13)
    assert tape_of(profile.regimes[0], profile.kinds, 4).sizes == [4608, 512, 512]


@pytest.mark.parametrize(
    "changes",
    [
        {"files": {"../other/train.py": "00"}},
        {"files": {"/etc/passwd": "00"}},
        {"script": "other.py"},
        {"regimes": []},
        {"regimes": [[8, 1, 1, []]]},
        {"regimes": [[1, 10**9, 1, []]]},
        {"torch": "newest"},
        {"error_per_mille": -1},
        {"held_out": [[1]]},
        {"nanolint_profile": 2},
    ],
    ids=str,
)
def test_what_does_not_hold_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(NotAProfile):
        read(content(**changes))


@pytest.mark.parametrize(
    "tapes",
    [
        {**TAPES, "tapes": [[[0, -2], [[0, 0]]]]},  # releases what is not there
        {**TAPES, "tapes": [[[7], [[0, 0]]]]},  # a kind that there is not
        {**TAPES, "tapes": [[[0], [[1, 0]]]]},  # begins without a phase
        {**TAPES, "tapes": [[[0], [[0, 9]]]]},
        {**TAPES, "kinds": [[0, 0, 0, 512]]},  # divides by nothing
        {**TAPES, "kinds": [[0, 0, 1, 1, 1, 1, 1]]},
        {**TAPES, "kinds": [[0, 0, 1, 0.5]]},
        {**TAPES, "kinds": [[0, 99, 1, 1]]},
    ],
    ids=str,
)
def test_tapes_that_cannot_be_played_are_refused(tapes: dict[str, Any]) -> None:
    with pytest.raises(NotAProfile):
        read(content(tapes))


def test_what_unpacks_to_gigabytes_is_refused_without_unpacking_it() -> None:
    packing = lzma.LZMACompressor(lzma.FORMAT_XZ, preset=1)
    data = b"".join(packing.compress(b" " * (1 << 20)) for _ in range(64)) + packing.flush()
    assert len(data) < 1 << 16
    with pytest.raises(NotAProfile, match="too long"):
        read(json.dumps({**FIELDS, "tapes": base64.b64encode(data).decode()}).encode())


def test_sizes_are_bounded_and_never_negative() -> None:
    tapes = {**TAPES, "kinds": [[0, 0, 1, -5], [0, 0, 1, 1 << 59]]}
    assert tape_of(read(content(tapes)).regimes[0], read(content(tapes)).kinds, 8).sizes == [
        0, LARGEST_SIZE, LARGEST_SIZE,
    ]  # fmt: skip


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([*FIELDS, *TAPES]), JSON)
def test_any_value_in_any_place_is_refused_or_can_be_played(name: str, value: Any) -> None:
    made = content({**TAPES, name: value}) if name in TAPES else content(**{name: value})
    try:
        profile = read(made)
    except NotAProfile:
        return
    for regime in profile.regimes:
        tape_of(regime, profile.kinds, regime.high)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(NotAProfile):
        read(data)
