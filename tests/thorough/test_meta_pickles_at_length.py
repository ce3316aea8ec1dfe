"""A vocabulary size is read off a pickle without unpickling it, or not at all.

These take seconds each.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from nanolint.trainers.nanogpt.pickles import vocabulary

if TYPE_CHECKING:
    import pytest
from tests.unit.run.test_meta_pickles import PROTOCOLS, meta, plain


@given(st.dictionaries(st.text(), plain), st.integers(1, 2**40), st.sampled_from(PROTOCOLS))
def test_nested_data_does_not_confuse_it(
    tmp_path_factory: pytest.TempPathFactory, entries: dict[str, object], size: int, protocol: int
) -> None:
    meta = tmp_path_factory.mktemp("data") / "meta.pkl"
    meta.write_bytes(pickle.dumps({**entries, "vocab_size": size}, protocol))
    assert vocabulary(meta) == size
    if "vocab_size" not in entries:
        meta.write_bytes(pickle.dumps(entries, protocol))
        assert vocabulary(meta) is None


__all__ = ["meta"]  # fixtures
