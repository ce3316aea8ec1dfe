"""A vocabulary size is read off a pickle without unpickling it, or not at all."""

from __future__ import annotations

import collections
import os
import pickle
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanolint.trainers.nanogpt.pickles import SIZE_LIMIT, vocabulary

if TYPE_CHECKING:
    from pathlib import Path

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
CHARACTERS = {"vocab_size": 65, "itos": dict(enumerate("abc")), "stoi": {"a": 0, "b": 1, "c": 2}}


class Trap:
    """Unpickling it creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.path),)


@pytest.fixture
def meta(tmp_path: Path) -> Path:
    return tmp_path / "meta.pkl"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("size", [1, 65, 255, 50257, 2**17, 2**33])
def test_every_protocol_gives_the_size(meta: Path, protocol: int, size: int) -> None:
    meta.write_bytes(pickle.dumps({**CHARACTERS, "vocab_size": size}, protocol))
    assert vocabulary(meta) == size


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_key_may_be_memoized(meta: Path, protocol: int) -> None:
    key = "vocab_size"
    meta.write_bytes(pickle.dumps({"name": key, "names": [key, key], key: 7}, protocol))
    assert vocabulary(meta) == 7


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_other_entries_may_be_anything(meta: Path, protocol: int) -> None:
    entries = {
        "inner": {"vocab_size": 3},
        "set": {1, 2},
        "counter": collections.Counter("hello"),
        "bytes": bytearray(b"x"),
        "float": 1.5,
        "tuple": ((), (1,), (1, 2, None, True)),
        "vocab_size": 9,
    }
    meta.write_bytes(pickle.dumps(entries, protocol))
    assert vocabulary(meta) == 9


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(), inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.just("vocab_size"), inner)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("value", [[CHARACTERS], 65, "vocab_size", None, {"vocab_size": True}])
def test_what_is_not_a_dictionary_with_a_number_gives_none(meta: Path, value: object) -> None:
    meta.write_bytes(pickle.dumps(value))
    assert vocabulary(meta) is None


@pytest.mark.parametrize("size", [0, -65, 65.0, "65", None])
def test_only_a_positive_integer_is_a_size(meta: Path, size: object) -> None:
    meta.write_bytes(pickle.dumps({"vocab_size": size}))
    assert vocabulary(meta) is None


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_is_ever_unpickled(meta: Path, tmp_path: Path, protocol: int) -> None:
    trap = tmp_path / "sprung"
    meta.write_bytes(pickle.dumps({"vocab_size": Trap(trap)}, protocol))
    assert vocabulary(meta) is None
    meta.write_bytes(pickle.dumps({"vocab_size": 65, "x": Trap(trap)}, protocol))
    assert vocabulary(meta) == 65
    assert not trap.exists()


def test_a_dictionary_that_code_could_change_proves_nothing(meta: Path) -> None:
    # The dictionary {"vocab_size": 65} is handed to a callable, then left on the stack.
    meta.write_bytes(
        b"\x80\x02}q\x00X\n\x00\x00\x00vocab_sizeK\x41scbuiltins\nid\nh\x00\x85R0h\x00."
    )
    assert vocabulary(meta) is None


def test_damage_gives_none(meta: Path) -> None:
    whole = pickle.dumps(CHARACTERS)
    for length in range(len(whole)):
        meta.write_bytes(whole[:length])
        assert vocabulary(meta) is None


@given(st.binary(max_size=200))
def test_no_bytes_break_it(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    meta = tmp_path_factory.mktemp("data") / "meta.pkl"
    meta.write_bytes(content)
    vocabulary(meta)


def test_files_that_must_not_be_opened(meta: Path) -> None:
    assert vocabulary(meta) is None
    os.mkfifo(meta)
    assert vocabulary(meta) is None
    meta.unlink()
    meta.symlink_to(meta)
    assert vocabulary(meta) is None
    meta.unlink()
    meta.mkdir()
    assert vocabulary(meta) is None


def test_a_huge_file_is_not_read(meta: Path) -> None:
    with meta.open("wb") as file:
        file.write(pickle.dumps(CHARACTERS))
        file.truncate(1 << 30)  # sparse
    assert vocabulary(meta) is None


def test_a_flood_of_opcodes_ends(meta: Path) -> None:
    meta.write_bytes(b"(" * (SIZE_LIMIT - 1) + b".")
    assert vocabulary(meta) is None
