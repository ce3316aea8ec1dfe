"""On a card that only emulates bfloat16, memory is counted in float16, and that is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.linting.fixing import fix_text
from tests.support.harness import Bench
from tests.support.sizes import MODEL

if TYPE_CHECKING:
    from nanolint.diagnostics import Diagnostic

GPT2 = "batch_size = 12\nblock_size = 1024\ngradient_accumulation_steps = 5 * 8\n" + MODEL
HALF = GPT2 + "dtype = 'float16'\n"
COUNTED = "counted in float16 (NL203): GTX 1080 Ti has no bfloat16"


def unsafely_fixed(bench: Bench, text: str) -> str:
    def fixable(diagnostic: Diagnostic) -> bool:
        return diagnostic.code in ("NL101", "NL102", "NL203") and diagnostic.fix is not None

    result = fix_text(bench.report, text, fixable=fixable)
    assert not result.dropped, result.dropped
    return result.text


def test_what_fits_in_float16_needs_no_smaller_batch() -> None:
    """Emulated bfloat16, which is not compiled and has no attention kernel, would take 5 of 12."""
    assert Bench("NL101", gpu="t4").findings(GPT2) == []
    assert Bench("NL102", gpu="t4").findings(GPT2) == []
    (found,) = Bench("NL203", gpu="t4").findings(GPT2)
    assert "memory is counted in float16; emulated bfloat16 takes more" in found.notes
    fixed = unsafely_fixed(Bench("NL101", gpu="t4"), GPT2)
    assert "dtype = 'float16'\n" in fixed
    assert "batch_size = 12\n" in fixed


def test_what_does_not_fit_in_float16_either_is_counted_so_and_says_so() -> None:
    bench = Bench("NL102", gpu="gtx-1080-ti")
    found = bench.finding(GPT2)
    assert COUNTED in found.notes
    assert found.remedy.startswith("batch_size = 6, gradient_accumulation_steps = 80 fits")
    fixed = unsafely_fixed(bench, GPT2)
    assert "batch_size = 6\n" in fixed
    assert "gradient_accumulation_steps = 10 * 8\n" in fixed
    assert "dtype = 'float16'\n" in fixed


def test_the_same_is_found_whether_float16_is_written_or_counted() -> None:
    bench = Bench("NL102", gpu="gtx-1080-ti")
    written, counted = bench.finding(HALF), bench.finding(GPT2)
    assert written.line == counted.line
    assert COUNTED not in written.notes
