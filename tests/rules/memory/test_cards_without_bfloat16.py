"""Where bfloat16 is the cause of the failure, the micro-batch is not shrunk for its sake."""

from __future__ import annotations

import pytest

from nanolint.diagnostics import Diagnostic, Safety
from nanolint.linting.fixing import fix_text
from tests.rules.harness import Bench

GPT2 = "batch_size = 12\nblock_size = 1024\ngradient_accumulation_steps = 5 * 8\n"
HALF = GPT2 + "dtype = 'float16'\n"


def unsafely_fixed(bench: Bench, text: str) -> str:
    def fixable(diagnostic: Diagnostic) -> bool:
        return diagnostic.code in ("NL101", "NL102", "NL203") and diagnostic.fix is not None

    result = fix_text(bench.report, text, fixable=fixable)
    assert not result.dropped, result.dropped
    return result.text


def test_safe_fixes_leave_a_run_alone_that_should_not_use_bfloat16() -> None:
    bench = Bench("NL101", gpu="t4")
    found = bench.finding(GPT2)
    assert found.fix is not None
    assert found.fix.safety is Safety.DISPLAY
    assert bench.fixed_by_all(GPT2) == GPT2
    assert "with dtype = 'float16' (NL203) it fits as it is" in found.notes


def test_in_float16_nothing_is_left_to_shrink() -> None:
    bench = Bench("NL101", gpu="t4")
    fixed = unsafely_fixed(bench, GPT2)
    assert "dtype = 'float16'" in fixed
    assert "batch_size = 12\n" in fixed
    assert bench.findings(fixed) == []


def test_what_float16_still_needs_is_told_and_done_in_the_next_pass() -> None:
    bench = Bench("NL101", gpu="gtx-1080-ti")
    (note, *_) = bench.finding(GPT2).notes[1:]
    assert note == (
        "with dtype = 'float16' (NL203), batch_size = 6 with gradient_accumulation_steps = 80 fits"
    )
    fixed = unsafely_fixed(bench, GPT2)
    assert "batch_size = 6\n" in fixed
    assert "gradient_accumulation_steps = 10 * 8\n" in fixed
    assert "dtype = 'float16'\n" in fixed


def test_a_run_that_fits_in_neither_type_is_told_so() -> None:
    text = "init_from = 'gpt2-xl'\nbatch_size = 1\ngradient_accumulation_steps = 32\n"
    notes = Bench("NL101", gpu="t4").finding(text).notes
    assert "with dtype = 'float16' (NL203) it would not fit either" in notes


@pytest.mark.parametrize(("gpu", "text"), [("rtx-3070", GPT2), ("t4", HALF.replace("12", "48"))])
def test_elsewhere_the_fix_is_safe_as_ever(gpu: str, text: str) -> None:
    (found,) = (
        d
        for d in Bench("NL101", gpu=gpu).report(text).diagnostics
        if d.code < "NL103" and d.code > "NL100"
    )
    assert found.fix is not None
    assert found.fix.safety is Safety.SAFE
    assert not any("float16" in note for note in found.notes)


def test_one_old_card_among_the_targets_is_enough() -> None:
    found = Bench("NL101", gpu="t4,rtx-4090").findings(GPT2)
    assert [each.gpu for each in found] == ["T4"]
    assert found[0].fix is not None
    assert found[0].fix.safety is Safety.DISPLAY
