"""Products that torch.compile pads or not, as a clock on the card says: in doubt where it asks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.gpus.lookup import find
from nanolint.run.coverage import not_covered
from tests.support.runs import GPT2


@pytest.mark.parametrize(
    ("vocabulary", "dtype", "doubted"),
    [
        (50257, "bfloat16", True),
        (50260, "float32", False),
        (50260, "bfloat16", True),
        (50304, "bfloat16", False),
        (65, "bfloat16", False),
    ],
)
def test_a_vocabulary_that_is_no_multiple_is_in_doubt_compiled(
    vocabulary: int, dtype: str, doubted: bool
) -> None:
    run = replace(GPT2, vocab_size=vocabulary, dtype=dtype, compile=True)
    found = [str(each) for each in not_covered(run, find("a100-80gb").gpu)]
    told = f"torch.compile may pad the {vocabulary:,}-column"
    assert any(each.startswith(told) for each in found) is doubted
    eager = replace(run, compile=False)
    assert not any("may pad" in str(e) for e in not_covered(eager, find("a100-80gb").gpu))
