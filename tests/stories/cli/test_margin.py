"""What is to spare is one number, whoever is asked: the rule, explain, the lens and the hint."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from nanolint.lsp.load import code_lenses, inlay_hints
from nanolint.units import GIB, MIB, format_bytes
from nanolint.verdict.verdict import Outcome
from tests.support.command import nanolint
from tests.support.lsp_configs import context_of

# Near the limit, where PyTorch gives back what it cached: as before, and only there.
TINY = (
    "n_layer = 1\nblock_size = 256\nbatch_size = 1\ngradient_accumulation_steps = 1\n"
    "compile = False\n"
)
CARD = "1200MiB"


@pytest.fixture
def config() -> str:
    Path("config.py").write_text(TINY, encoding="utf-8")
    return "config.py"


def test_rule_explain_lens_and_hint_tell_the_same_margin(config: str) -> None:
    context = context_of(TINY, gpu=CARD)
    verdict = context.cases[0].verdict
    assert verdict is not None
    assert verdict.outcome is Outcome.THIN
    assert verdict.replay.peak.reserved_bytes > verdict.usable_bytes  # without limit it is more
    spare = f"{verdict.margin_bytes / MIB:.0f} MiB"
    (finding,) = json.loads(
        nanolint(config, "--gpu", CARD, "--select", "NL103", "--output-format", "json").out
    )
    assert f"({spare} to spare)" in finding["message"]
    (lens,) = code_lenses(context)
    assert f"thin margin, {spare} to spare" in lens
    (hint,) = inlay_hints(context, TINY)
    assert f"{format_bytes(verdict.margin_bytes)} to spare" in hint.tooltip
    explained = nanolint("explain", config, "--gpu", CARD).out
    (told,) = re.findall(r"to spare +([0-9.]+ GiB)", explained)
    assert told == f"{verdict.margin_bytes / GIB:.2f} GiB"
    assert "short by" not in explained


def test_the_process_of_explain_is_what_is_reserved_on_that_card_and_the_overhead(
    config: str,
) -> None:
    verdict = context_of(TINY, gpu=CARD).cases[0].verdict
    assert verdict is not None
    peak = json.loads(nanolint("explain", config, "--gpu", CARD, "--format", "json").out)["peak"]
    assert peak["reserved_bytes"] == verdict.reserved_bytes <= verdict.usable_bytes
    assert peak["process_bytes"] == verdict.process_bytes
    assert peak["process_bytes"] == peak["reserved_bytes"] + peak["context_bytes"]


def test_a_run_that_does_not_fit_is_told_with_what_it_would_take_elsewhere() -> None:
    verdict = context_of("batch_size = 16\n").cases[0].verdict
    assert verdict is not None
    assert verdict.outcome is Outcome.OUT_OF_MEMORY
    assert verdict.reserved_bytes == verdict.replay.peak.reserved_bytes
    assert verdict.margin_bytes < 0
