"""The three runs that nanolint was made for, judged from the bundled examples."""

from __future__ import annotations

import io
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.cli.main import main
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = ROOT / "examples"
FAMILY = {"NL101", "NL102", "NL104"}


def output(*argv: str) -> str:
    stream = io.StringIO()
    main(argv, stdout=stream, stderr=io.StringIO())
    return stream.getvalue()


def findings(path: Path, *options: str) -> list[dict[str, Any]]:
    """The memory findings on ``path``."""
    found = json.loads(output("check", "--output-format", "json", *options, str(path)))
    return [finding for finding in found if finding["code"].startswith("NL1")]


def explained(path: Path, *options: str) -> dict[str, Any]:
    explanation: dict[str, Any] = json.loads(
        output("explain", "--format", "json", *options, str(path))
    )
    return explanation


def values_after_fix(example: Path, folder: Path, *options: str) -> dict[str, int]:
    """What a copy of ``example`` sets after ``--fix``, evaluated as Python would."""
    copy = shutil.copytree(example.parent, folder / "copy") / example.name
    output("--fix", *options, str(copy))
    names: dict[str, Any] = {}
    exec(copy.read_text(encoding="utf-8"), names)
    keys = ("batch_size", "gradient_accumulation_steps")
    return {key: names[key] for key in keys}


LOGITS = next((EXAMPLES / "logits_in_evaluation").glob("*.py"))
BACKWARD = next((EXAMPLES / "backward_pass").glob("*.py"))
FITS = next((EXAMPLES / "fits").glob("*.py"))


def test_the_fix_for_the_logits_keeps_the_effective_batch(tmp_path: Path) -> None:
    values = values_after_fix(LOGITS, tmp_path)
    assert values["batch_size"] < 64
    assert values["batch_size"] * values["gradient_accumulation_steps"] == 64 * 8


@pytest.mark.parametrize("compiled", [True, False])
def test_batch_16_does_not_fit_12_gb_compiled_or_not(compiled: bool) -> None:
    found = findings(BACKWARD, "--set", f"compile={compiled}")
    assert len(found) == 1
    assert found[0]["code"] in FAMILY


def test_compiled_batch_8_with_accumulation_64_is_the_cure(tmp_path: Path) -> None:
    values = values_after_fix(BACKWARD, tmp_path)
    assert values == {"batch_size": 8, "gradient_accumulation_steps": 64}


def test_uncompiled_the_product_stays_too(tmp_path: Path) -> None:
    values = values_after_fix(BACKWARD, tmp_path, "--set", "compile=False")
    assert values["batch_size"] < 16
    assert values["batch_size"] * values["gradient_accumulation_steps"] == 512


def test_the_30m_model_fits_and_takes_what_was_measured() -> None:
    assert findings(FITS) == []
    explanation = explained(FITS)
    assert explanation["fits"] is True
    assert explanation["peak"]["process_bytes"] == pytest.approx(4464 * 2**20, rel=0.05)
    assert round(explanation["run"]["parameters_reported"] / 1e6, 2) == 29.94
