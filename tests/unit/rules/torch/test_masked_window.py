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


LOOP = "\nloss.backward()\n"
OFF = """class A:
    def __init__(self, window=0):
        self.window = window if 0 < window < T else 0
"""


WITHIN = "def attend(self, q, k, v):\n    window = self.window\n"


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ("", 0),
        ("def mask(window): return window\n", 1),
        ("a = A(window=512)\n", 1),
        ("a = A(window=args.seq_len // 2)\n", 1),
        ("a = A(window=args.window)\n", 0),
        ("a = A(window=window)\n", 0),
        ('parser.add_argument("--window", type=int, default=1024)\n', 1),
        ('a = A(window=int(os.environ.get("WINDOW", "0")))\n', 0),
        ('a = A(window=int(os.environ.get("WINDOW", "128")))\n', 1),
    ],
)
def test_a_program_that_gives_no_window_has_none(given: str, count: int) -> None:
    text = HEAD + OFF + WITHIN + MASKED.format("mask") + given
    assert len(BENCH.findings(text + LOOP)) == count
    assert len(BENCH.findings(text)) == 1  # who gives it one stands elsewhere


@pytest.mark.parametrize(
    ("chosen", "count"),
    [
        ("if cap == (9, 0):\n    fa3 = get_kernel('a/b')\n", 1),
        ("if cap == (9, 0):\n    fa3 = get_kernel('a/b')\nelse:\n    fa3 = get_kernel('c/d')\n", 0),
        ("fa3 = get_kernel('a/b' if cap == (9, 0) else 'c/d')\n", 0),
        ("def load():\n    if major != 9:\n        return None\n    return get_kernel('a/b')\n", 1),
    ],
)
def test_a_kernel_may_be_for_hopper_alone(chosen: str, count: int) -> None:
    kernel = "    if fa3 is not None: return fa3.flash_attn_func(q, k, v, window_size=window)\n"
    text = HEAD + chosen + ATTEND + kernel + MASKED.format("mask")
    assert len(Bench("NL416", gpu="rtx-4090").findings(text)) == count
    assert Bench("NL416", gpu="h100").findings(text) == []
