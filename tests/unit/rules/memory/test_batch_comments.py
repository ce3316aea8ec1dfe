"""The memory fix takes the sums in comments along: an editor's one click leaves none stale."""

from __future__ import annotations

import pytest

from nanolint.source.text import apply_edits
from tests.support.harness import Bench

VALUES = "batch_size = 16{}\ngradient_accumulation_steps = 32{}\nblock_size = 1024{}\n"


def fixed_at_once(text: str) -> str:
    """``text`` with the edits of the one finding, as a quick fix applies them."""
    found = Bench("NL102", gpu="rtx-3060").finding(text)
    assert found.fix is not None
    return apply_edits(text, found.fix.edits)


def test_one_fix_leaves_no_sum_stale() -> None:
    text = "# 16 batch size * 32 gradaccum = 512\n" + VALUES.format("", "  # 16 * 32 = 512", "")
    fixed = fixed_at_once(text)
    assert fixed.startswith("# 8 batch size * 64 gradaccum = 512\nbatch_size = 8\n")
    assert "gradient_accumulation_steps = 64  # 8 * 64 = 512\n" in fixed
    assert Bench("NL313").findings(fixed) == []


@pytest.mark.parametrize(
    ("comment", "fixed"),
    [
        ("global batch = 16x32 = 512", "global batch = 8x64 = 512"),
        ("16*32=512", "8*64=512"),
        ("32 * 16 = 512", "64 * 8 = 512"),
        ("16 x 32 x 1024 = 524,288", "8 x 64 x 1024 = 524,288"),
        ("16 * 32 * 1024 = 0.52M", "8 * 64 * 1024 = 0.52M"),
    ],
)
def test_a_sum_beside_its_values_needs_no_names(comment: str, fixed: str) -> None:
    assert f"  # {fixed}\n" in fixed_at_once(VALUES.format(f"  # {comment}", "", ""))
    above = fixed_at_once(f"# {comment}\n{VALUES.format('', '', '')}")
    assert above.startswith(f"# {fixed}\n")


def test_a_sum_elsewhere_may_be_about_something_else() -> None:
    text = f"{VALUES.format('', '', '')}warmup_iters = 512  # 16 * 32 = 512\n"
    assert "warmup_iters = 512  # 16 * 32 = 512\n" in fixed_at_once(text)


@pytest.mark.parametrize(
    "comment",
    [
        "16 sequences, as in the paper",
        "12 batch size * 32 gradaccum = 384",  # stale before: NL313's own
        "16 * 8 heads = 128",
        "16 * 33 = 528",
        "16 * 32 = 500",
        "16 * 32 warps = 512",
    ],
)
def test_other_comments_stay(comment: str) -> None:
    assert f"# {comment}\n" in fixed_at_once(VALUES.format(f"  # {comment}", "", ""))
