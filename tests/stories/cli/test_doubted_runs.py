"""Trust as `check` shows it: doubted runs are warnings, also when they fit, once per project."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.cli_configs import GPU, JSON, LARGE, SMALL, write
from tests.support.command import nanolint
from tests.support.project_tree import TWICE, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def fork(tmp_path: Path) -> Path:
    """A project whose script does not do what its settings say."""
    script = train_script(loop=TWICE)
    return write_project(tmp_path, {"train.py": script})


def findings(*arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(nanolint(*arguments, JSON).out)
    return found


@pytest.mark.usefixtures("fork")
def test_a_doubted_run_that_fits_is_told_once() -> None:
    for name in "abc":
        write(f"config/{name}.py", SMALL)
    found, *others = findings("config", GPU)
    assert [each["code"] for each in others] == ["NL005", "NL005"], "each place is an entry"
    assert (found["code"], found["severity"]) == ("NL005", "warning")
    assert found["trust"] == "doubted"
    assert found["message"].startswith("probably fits RTX 3060 12GB: ")
    assert found["message"].endswith("`nanolint trace -- python train.py config/a.py` settles it")
    (doubt,) = found["doubts"]
    assert doubt in found["message"]
    assert "passes per step; in the script it is " in doubt
    outcome = nanolint("config", GPU)
    assert outcome.status == 1
    assert outcome.out.count("warning[NL005]") == 1
    assert "also in config/b.py:1, config/c.py:1" in outcome.out
    assert outcome.out.endswith("3 runs checked for RTX 3060 12GB, all doubted.\n")


@pytest.mark.usefixtures("fork")
def test_nothing_is_said_to_fit_after_an_error_that_stops_the_run() -> None:
    text = SMALL.replace("gradient_accumulation_steps = 8", "gradient_accumulation_steps = 9")
    write("config/a.py", text)
    outcome = nanolint("config/a.py", "--gpu=8xa100-40gb")
    assert outcome.status == 1
    assert "error[NL304]" in outcome.out
    assert "fits" not in outcome.out
    assert "doubt" not in outcome.out
    write("config/b.py", SMALL)
    table = nanolint("config", "--gpu=8xa100-40gb").out
    assert re.search(r"config/a.py +stops +see NL304", table)


def test_a_run_without_doubts_is_an_error_with_a_safe_fix(tmp_path: Path) -> None:
    write_project(tmp_path)
    write("config/large.py", LARGE)
    write("config/small.py", SMALL)
    (found,) = findings("config", GPU, "--select=NL1,NL005")
    assert (found["severity"], found["trust"], found["doubts"]) == ("error", "read", [])
    assert found["fix"]["safety"] == "safe"


@pytest.mark.usefixtures("fork")
def test_findings_that_are_not_about_memory_have_no_trust() -> None:
    write("config/a.py", SMALL + "min_lr = 1\n")
    found = next(each for each in findings("config", GPU) if each["code"] == "NL310")
    assert (found["trust"], found["doubts"]) == (None, [])


@pytest.mark.parametrize("name", ["a.py", "config/a.py", "-"])
def test_a_lone_config_that_fits_has_one_line_with_the_sizes_that_are_nanogpts_own(
    name: str,
) -> None:
    text = "batch_size = 2\nblock_size = 64\n"
    if name != "-":
        write(name, text)
    outcome = nanolint(name, GPU, "--output-format=concise", "--ignore=NL3", stdin=text.encode())
    line, *_ = outcome.out.splitlines()
    own = "gradient_accumulation_steps, n_layer, n_head and n_embd are nanoGPT's own"
    assert f", not certain: {own}: nanolint found no training script; " in line
    assert line.endswith("--set n_layer=N --set n_head=N --set n_embd=N` settles it")
    assert outcome.out.count("NL005") == outcome.out.count("not certain: ") == 1


def test_a_lone_config_is_fixed_unasked_only_where_it_sets_all_sizes() -> None:
    whole = write("whole.py", LARGE)
    part = write("part.py", LARGE.replace("n_layer, n_head, n_embd", "a, b, c"))
    severities = {each["filename"]: each["severity"] for each in findings(".", GPU, "--select=NL1")}
    assert severities == {"whole.py": "error", "part.py": "warning"}
    before = part.read_text()
    nanolint("--fix", ".", GPU, "--select=NL1")
    assert "batch_size = 8 " in whole.read_text()
    assert part.read_text() == before


def test_a_vocabulary_that_no_data_tells_is_a_doubt_where_no_script_is_near() -> None:
    for dataset, trust in (("my_poems", "doubted"), ("openwebtext", "exact")):
        write("lone.py", f"dataset = {dataset!r}\n{SMALL}")
        found = json.loads(nanolint("explain", "lone.py", "--gpu=t4", "--format=json").out)
        assert found["trust"] == trust
        assert ("my_poems" in str(found["doubts"])) is (trust == "doubted")
