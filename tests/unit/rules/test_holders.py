"""A finding about memory names the lines of model.py that hold what does not fit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.settings import targets
from tests.support.command import nanolint
from tests.support.model_text import FUSED_ADAMW
from tests.support.project_tree import write_project
from validation.read_models import MODELS

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = (
    *("batch_size = 12", "block_size = 1024", "n_layer = 12", "n_head = 8", "n_embd = 512"),
    *("vocab_size = 4096", "dtype = 'float32'", "gradient_accumulation_steps = 2"),
    *("compile = False", "dropout = 0.0"),
)
MODEL = (MODELS / "gpt.py").read_text(encoding="utf-8").replace("gelu(x)", "gelu(x) * x")
ROW = next(at for at, line in enumerate(MODEL.splitlines(), 1) if "gelu(x) * x" in line)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_project(tmp_path, files={"model.py": MODEL + FUSED_ADAMW})
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "run.py").write_text("\n".join(SETTINGS) + "\n")
    (tmp_path / "nanolint.toml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(targets, "_local_gpu", lambda: None)
    monkeypatch.delenv("NANOLINT_GPU", raising=False)


def report(kind: str) -> Any:
    options = ("config/run.py", "--gpu", "8GB", "--select", "NL102", "--output-format", kind)
    return nanolint(*options).out


@pytest.mark.usefixtures("project")
def test_every_format_says_which_line_keeps_most() -> None:
    assert f"model.py:{ROW} keeps " in report("full")
    (found,) = json.loads(report("json"))
    held = [each for each in found["related"] if each.get("filename") == "model.py"]
    assert ROW in [each["location"]["row"] for each in held]
    assert any("gelu(x) * x" in each["text"] for each in held)
    result = json.loads(report("sarif"))["runs"][0]["results"][0]
    rows = [
        each["physicalLocation"]["region"]["startLine"]
        for each in result["relatedLocations"]
        if each["physicalLocation"]["artifactLocation"]["uri"] == "model.py"
    ]
    assert ROW in rows
