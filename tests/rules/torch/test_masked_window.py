"""Windows that are masks: which call, which constant, and when a fix helps."""

from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL416")
HEAD = "import torch.nn.functional as F\n"
MASKED = "    return F.scaled_dot_product_attention(q, k, v, {})\n"
FULL = "    if window < 0: return F.scaled_dot_product_attention(q, k, v, is_causal=True)\n"
ATTEND = "def attend(q, k, v, window):\n"


@pytest.mark.parametrize(
    ("mask", "count"), [("mask", 1), ("attn_mask=mask", 1), ("None", 0), ("is_causal=True", 0)]
)
def test_which_calls_have_a_mask(mask: str, count: int) -> None:
    assert len(BENCH.findings(HEAD + ATTEND + MASKED.format(mask))) == count


def test_a_constant_counts_before_a_field_and_keeps_its_quotes() -> None:
    field = "class C:\n    window_pattern: str = 'L'\n"
    constant = "WINDOW_PATTERN = 'sl'  # later\n"
    text = HEAD + field + constant + ATTEND + FULL + MASKED.format("mask")
    assert BENCH.marked(text) == ["'sl'"]
    assert BENCH.fixed(text, unsafe=True) == text.replace("'sl'", "'L'")


def test_without_another_way_there_is_no_fix() -> None:
    text = f"{HEAD}window_pattern = 'SL'\n{ATTEND}{MASKED.format('mask')}"
    assert BENCH.finding(text).fix is None
