"""explain, fit and the editor count with float16 on a card that has no bfloat16, and say so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nanolint.lsp.load import code_lenses, inlay_hints
from tests.support.command import nanolint
from tests.support.lsp_configs import context_of

WRITTEN = "batch_size = 12\nblock_size = 1024\ngradient_accumulation_steps = 5 * 8\n"
SAID = "counted in float16: T4 has no bfloat16 (NL203)"


@pytest.fixture
def config() -> str:
    Path("config.py").write_text(f"{WRITTEN}dtype = 'bfloat16'\n", encoding="utf-8")
    return "config.py"


def explained(text: str, *arguments: str) -> dict[str, object]:
    Path("config.py").write_text(text, encoding="utf-8")
    told = json.loads(nanolint("explain", "config.py", "--format=json", *arguments).out)
    assert isinstance(told, dict)
    return told


def test_the_json_says_the_dtype_of_the_run_and_the_one_that_is_written() -> None:
    bfloat16 = explained(f"{WRITTEN}dtype = 'bfloat16'\n", "--gpu=t4")
    float16 = explained(f"{WRITTEN}dtype = 'float16'\n", "--gpu=t4")
    assert (bfloat16["in_float16"], float16["in_float16"]) == (True, False)
    assert bfloat16["run"] == float16["run"]
    assert bfloat16["peak"] == float16["peak"]
    roles = bfloat16["roles"]
    assert isinstance(roles, dict)
    assert roles["dtype"]["value"] == "bfloat16"


def test_fit_finds_the_micro_batch_that_float16_leaves_room_for(config: str) -> None:
    told = nanolint("fit", config, "--gpu=t4", "--gpu=rtx-3090").out
    assert "counted in float16, without bfloat16 (NL203): T4" in told
    (card,) = json.loads(nanolint("fit", config, "--gpu=t4", "--format=json").out)["cards"]
    assert card["dtype"] == "float16"
    assert card["fit"]["batch_size"] >= 12  # emulated bfloat16 would leave 5


def test_the_editor_says_it_too() -> None:
    context = context_of(WRITTEN, gpu="t4")
    (lens,) = code_lenses(context)
    assert " in float16 | " in lens
    (hint,) = inlay_hints(context, WRITTEN)
    assert SAID in hint.tooltip
