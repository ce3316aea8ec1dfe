"""On a card that only emulates bfloat16, memory is counted in float16, and that is said.

These take seconds each.
"""

from __future__ import annotations

import pytest

from nanolint.diagnostics import Safety
from tests.support.harness import Bench
from tests.unit.rules.memory.test_cards_without_bfloat16 import GPT2, HALF


@pytest.mark.parametrize(
    ("gpu", "text"), [("rtx-3070", GPT2), ("t4", HALF.replace("= 12\nblock", "= 48\nblock"))]
)
def test_elsewhere_the_fix_is_safe_as_ever(gpu: str, text: str) -> None:
    (found,) = (
        d
        for d in Bench("NL101", gpu=gpu).report(text).diagnostics
        if d.code < "NL103" and d.code > "NL100"
    )
    assert found.fix is not None
    assert found.fix.safety is Safety.SAFE
    assert not any("counted in float16" in note for note in found.notes)


def test_of_several_targets_only_those_without_bfloat16_count_in_float16() -> None:
    large = GPT2.replace("= 12\nblock", "= 64\nblock")
    notes = Bench("NL102", gpu="t4,rtx-3060-12gb").findings(large)[0].notes
    assert "counted in float16 (NL203): T4 has no bfloat16" in notes
