"""Products that torch.compile pads or not, by a clock: in doubt only where that decides."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.gpus.lookup import find
from nanolint.recording.recording import allocated_peak, recorded
from nanolint.verdict.timed import padding
from tests.support.command import nanolint
from tests.support.repository import ROOT
from tests.support.runs import GPT2

if TYPE_CHECKING:
    from pathlib import Path

VALIDATION = ROOT / "validation"

# nanoGPT's own, of the vocabulary that GPT-2 has: 50,257.
FINETUNE = (
    "batch_size = 8\ngradient_accumulation_steps = 4\nblock_size = 1024\ninit_from = 'gpt2'\n"
)
EVAL = f"{FINETUNE}eval_only = True\n"


def explained(folder: Path, text: str, gpu: str) -> dict[str, Any]:
    path = folder / "config.py"
    path.write_text(text, encoding="utf-8")
    done = nanolint("explain", "--gpu", gpu, "--format", "json", str(path))
    found: dict[str, Any] = json.loads(done.out)
    return found


@pytest.mark.parametrize(
    ("gpu", "fits", "doubted"),
    [("rtx-4070", True, False), ("3.5GiB", True, True), ("2GiB", False, False)],
)
def test_only_where_padding_decides_the_verdict_is_in_doubt(
    tmp_path: Path, gpu: str, fits: bool, doubted: bool
) -> None:
    found = explained(tmp_path, EVAL, gpu)
    assert found["fits"] is fits
    assert (found["trust"] == "doubted") is doubted
    told = found["doubts"] if doubted else found["left_open"]
    assert len(told) == 1
    assert "torch.compile may pad the 50,257-column" in told[0]


def test_a_fix_of_such_a_run_is_not_safe(tmp_path: Path) -> None:
    path = tmp_path / "config.py"
    path.write_text(FINETUNE, encoding="utf-8")
    done = nanolint("--gpu", "6GiB", "--output-format", "json-full", str(path))
    found = json.loads(done.out)
    assert found["runs"][0]["trust"] == "exact"
    (short,) = [each for each in found["findings"] if each["code"] == "NL102"]
    assert short["fix"]["safety"] == "unsafe"
    assert any("50,257-column" in note for note in short["notes"])


def test_what_is_open_is_told_beside_the_number(tmp_path: Path) -> None:
    path = tmp_path / "config.py"
    path.write_text(EVAL, encoding="utf-8")
    done = nanolint("explain", "--gpu", "rtx-4070", str(path))
    assert "left open: torch.compile may pad the 50,257-column" in " ".join(done.out.split())


RECORDED = json.loads((VALIDATION / "recorded" / "padding.json").read_text(encoding="utf-8"))


WITHOUT = {json.dumps(row["run"]): row["allocated"] for row in RECORDED if not row["pads"]}


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row['run']} {row['pads']}")
def test_padded_as_pytorch_may_a_run_lies_between_the_bounds(row: dict[str, Any]) -> None:
    """Recorded by validation/record_padding.py."""
    run = GPT2.having(**row["run"], gradient_accumulation_steps=2, vocab_size=50257)
    known = recorded(replace(run, compile=True, torch=(2, 13)), find("a100-80gb").gpu)
    least = known.answer(allocated_peak)
    assert WITHOUT[json.dumps(row["run"])] <= row["allocated"] <= least + known.answer(padding)
    assert least == pytest.approx(WITHOUT[json.dumps(row["run"])], rel=1e-5)
