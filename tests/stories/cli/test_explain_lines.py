"""``nanolint explain --lines``."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

from tests.support.command import nanolint
from tests.support.model_text import FUSED_ADAMW, GPT
from tests.support.project_tree import TWICE, train_script, write_project

SETTINGS = (
    *("batch_size = 4", "block_size = 256", "n_layer = 3", "n_head = 4", "n_embd = 128"),
    *("vocab_size = 4096", "dtype = 'float32'", "gradient_accumulation_steps = 2"),
    *("compile = False", "dropout = 0.0"),
)
MODEL = GPT.replace("gelu(x)", "gelu(x) * x") + FUSED_ADAMW
EXPLAIN = ("explain", "config/run.py", "--gpu", "rtx-4070", "--lines")


def project(model: str = MODEL) -> None:
    write_project(Path(), files={"model.py": model})
    Path("config").mkdir(exist_ok=True)
    Path("config/run.py").write_text("\n".join(SETTINGS) + "\n")


def test_the_largest_lines_come_first_and_the_text_fits_80_columns() -> None:
    project()
    found = nanolint(*EXPLAIN)
    assert found.status == 0, found.err
    rows = found.out.splitlines()
    table = [row for row in rows if " model.py:" in row]
    assert len(table) >= 3
    assert any("gelu" in row and " x3" in row for row in rows)
    assert max(map(len, rows)) <= 80


def test_json_has_each_line_with_its_bytes() -> None:
    project()
    found = json.loads(nanolint(*EXPLAIN, "--format", "json").out)
    (gelu,) = (each for each in found["lines"] if "gelu" in each["text"])
    activation = 4 * 256 * 4 * 128 * 4
    assert gelu["kept_bytes"] == 2 * 3 * activation
    assert gelu["calls"] == 3
    held = sum(each["peak_bytes"] for each in found["lines"]) + sum(found["elsewhere"].values())
    assert held == found["peak"]["allocated_bytes"]
    names = [each["name"] for each in found["functions"]]
    assert "MLP.forward" in names and names.index("GPT.forward") < names.index("MLP.forward")


def test_a_run_in_doubt_is_marked() -> None:
    write_project(Path(), files={"model.py": MODEL, "train.py": train_script(loop=TWICE)})
    Path("config").mkdir(exist_ok=True)
    Path("config/run.py").write_text("\n".join(SETTINGS) + "\n")
    found = nanolint(*EXPLAIN).out
    assert "not certain: " in found
    assert all("~" in row for row in found.splitlines() if " model.py:" in row)


def test_the_snapshot_has_the_stack_and_the_page_the_line() -> None:
    project()
    options = ("explain", "config/run.py", "--gpu", "rtx-4070")
    assert nanolint(*options, "--snapshot", "run.pickle", "--html", "run.html").status == 0
    found = pickle.loads(Path("run.pickle").read_bytes())
    stacks = [entry["frames"][3:] for entry in found["device_traces"][0]]
    names = {tuple(frame["name"] for frame in stack) for stack in stacks}
    assert ("MLP.forward", "Block.forward", "GPT.forward", "<module>") in names
    files = {frame["filename"] for stack in stacks for frame in stack}
    assert files == {"model.py", "train.py"}
    assert "x = self.gelu(x) * x" in Path("run.html").read_text(encoding="utf-8")


def test_without_a_script_there_are_no_lines_and_a_reason() -> None:
    Path("config").mkdir()
    Path("config/run.py").write_text("\n".join(SETTINGS) + "\n")
    found = nanolint(*EXPLAIN)
    assert found.status == 2
    assert "no lines" in found.error
    told = json.loads(nanolint(*EXPLAIN, "--format", "json").out)
    assert told["lines"] is None and told["reason"]
