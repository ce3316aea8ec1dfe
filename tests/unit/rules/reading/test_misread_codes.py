"""A letter for a digit in a suppression: the code is corrected, the reason stays."""

from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL003")


@pytest.mark.parametrize("written", ["NL3O3", "nl3o3"])
def test_the_code_is_corrected_and_the_reason_stays(written: str) -> None:
    text = f"n_head = 5\nn_embd = 384  # nanolint: ignore[{written}] checked by hand\n"
    fixed = BENCH.fixed(text)
    assert fixed == "n_head = 5\nn_embd = 384  # nanolint: ignore[NL303] checked by hand\n"


def test_what_is_no_code_is_taken_out_as_ever() -> None:
    assert BENCH.fixed("batch_size = 4  # nanolint: ignore[NL9O9]\n") == "batch_size = 4\n"
