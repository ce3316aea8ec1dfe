"""``fit``: a row for each card, from 8 to 192 GB or as named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import nanolint
from tests.support.sizes import MODEL

CONFIG = "batch_size = 16\ngradient_accumulation_steps = 32\nblock_size = 1024\n" + MODEL


@pytest.fixture
def config() -> str:
    Path("config.py").write_text(CONFIG, encoding="utf-8")
    return "config.py"


CARDS = ("--gpu=rtx-3060", "--gpu=rtx-4090", "--gpu=h200")


def test_the_effective_batch_is_kept_everywhere(config: str) -> None:
    for card in json.loads(nanolint("fit", config, *CARDS, "--format=json").out)["cards"]:
        fit = card["fit"]
        assert fit["batch_size"] * fit["gradient_accumulation_steps"] == 512
        assert fit["process_bytes"] < card["total_bytes"]
        assert fit["allocated_bytes"] < fit["process_bytes"]


def test_the_named_cards_only(config: str) -> None:
    lines = nanolint("fit", config, "--gpu=rtx-3060", "--gpu=11.69GiB").out.splitlines()
    assert [line.split("  ")[1] for line in lines[3:5]] == ["RTX 3060 12GB", "11.69 GiB card"]
    assert lines[3].split()[-7:-5] == ["8", "64"]


def test_a_card_of_the_settings_joins_the_usual_ones(config: str) -> None:
    Path("nanolint.toml").write_text('gpu = "rtx-3060"', encoding="utf-8")
    out = nanolint("fit", config).out
    assert "RTX 3060 12GB" in out
    assert "H200" in out


def test_the_file_s_own_choice_is_marked(config: str) -> None:
    out = nanolint("fit", config, "--gpu=rtx-4090").out
    assert " 16*" in out
    assert "* the value of the file" in out


def test_other_programs_and_overrides_count(config: str) -> None:
    free = nanolint("fit", config, "--gpu=rtx-3060", "--format=json").out
    crowded = nanolint("fit", config, "--gpu=rtx-3060", "--in-use=6GiB", "--format=json").out
    short = nanolint("fit", config, "--gpu=rtx-3060", "--set=block_size=256", "--format=json").out
    batches = [json.loads(out)["cards"][0]["fit"]["batch_size"] for out in (crowded, free, short)]
    assert batches == sorted(set(batches))


def test_text_has_80_columns(config: str) -> None:
    out = nanolint("fit", config).out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("device = 'cpu'\nbatch_size = 4\n", "uses no GPU memory"),
        ("import os\nbatch_size = len(os.listdir())\nblock_size = 8\n", "batch_size"),
        ("batch_size = (\n", "config.py: "),
    ],
)
def test_what_cannot_be_fitted(config: str, text: str, reason: str) -> None:
    Path(config).write_text(text, encoding="utf-8")
    outcome = nanolint("fit", config)
    assert outcome.status == 2
    assert reason in outcome.error


def test_one_file(config: str) -> None:
    assert nanolint("fit", config, config).status == 2


def test_a_lone_config_s_doubt(config: str) -> None:
    Path(config).write_text(CONFIG.removesuffix(MODEL), encoding="utf-8")
    out = nanolint("fit", config, "--gpu=rtx-4090").out
    assert "\nnot certain: n_layer, n_head and n_embd are nanoGPT's own: " in out
