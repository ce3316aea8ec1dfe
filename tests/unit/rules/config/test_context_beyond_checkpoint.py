from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL307")


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        (
            "init_from = 'gpt2'\r\nblock_size = 2048  # größer",
            "init_from = 'gpt2'\r\nblock_size = 1024  # größer",
        ),
        (
            "block_size   = (2 *\n    1024)\ninit_from = 'gpt2-xl'\n",
            "block_size   = 1024\ninit_from = 'gpt2-xl'\n",
        ),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text) == text, "the fix is unsafe"
    assert BENCH.fixed(text, unsafe=True) == fixed


@pytest.mark.parametrize(
    "text",
    [
        "init_from = 'gpt2'\nblock_size = 1024\n",
        "init_from = 'resume'\nblock_size = 2048\n",
        "block_size = 2048\nbatch_size = 1\n",
    ],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


def test_a_start_that_is_no_text_names_no_checkpoint() -> None:
    assert BENCH.findings("init_from = []\nblock_size = 2048\n") == []
