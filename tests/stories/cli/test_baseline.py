"""A baseline: an old repository adopts nanolint today, and only new findings fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import nanolint

HEADS = "n_embd = 384\nn_head = 5\nbatch_size = 2\nblock_size = 64\n"  # NL303
TWICE = "seed = 1\nseed = 2\n"  # NL305
BASELINE = "--baseline=known.json"


@pytest.fixture(autouse=True)
def old_repository() -> None:
    Path("config").mkdir()
    Path("config/a.py").write_text(HEADS)
    outcome = nanolint("config", "--write-baseline=known.json", "--gpu=80GB")
    assert (outcome.status, outcome.out) == (0, "")
    assert outcome.error == "Wrote 1 known finding to known.json."


def check(*arguments: str) -> tuple[int, str]:
    outcome = nanolint(*arguments, BASELINE, "--gpu=80GB", "--output-format=concise")
    return outcome.status, outcome.out


def test_known_findings_are_left_out() -> None:
    status, out = check("config")
    assert status == 0
    assert "1 finding hidden by the baseline.\n" in out
    assert "n_head = 5" in out  # what keeps the run from being checked is still said
    assert "1 run not checked." in out


def test_they_stay_known_when_lines_move() -> None:
    Path("config/a.py").write_text("# new\n\n" + HEADS.replace("n_head = 5", "n_head  = 5  # five"))
    assert check("config")[0] == 0


def test_new_findings_fail() -> None:
    Path("config/a.py").write_text(HEADS + TWICE)
    status, out = check("config")
    assert status == 1
    assert "NL305" in out
    assert "NL303" not in out


def test_the_same_in_another_file_is_new() -> None:
    Path("config/b.py").write_text(HEADS)
    status, out = check("config")
    assert status == 1
    assert out.startswith("config/b.py:1:1: NL303")


def test_the_working_folder_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("config")
    outcome = nanolint("a.py", "--baseline=../known.json", "--gpu=80GB")
    assert outcome.status == 0


def test_the_file_reads_well_in_a_review() -> None:
    known = json.loads(Path("known.json").read_text())
    assert known["version"] == 1
    ((name, rules),) = known["findings"].items()
    assert name == "config/a.py"
    assert list(rules) == ["NL303"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 1, "findings": [1]}', "\0"])
def test_a_file_that_is_no_baseline(text: str) -> None:
    Path("known.json").write_text(text)
    outcome = nanolint("config", BASELINE)
    assert outcome.status == 2
    assert "nanolint: --baseline: known.json: not a baseline of nanolint" in outcome.err


def test_another_version() -> None:
    Path("known.json").write_text('{"version": 2, "findings": {}}')
    assert "known.json: another version of nanolint wrote it" in nanolint("config", BASELINE).err


def test_wrong_usage() -> None:
    assert "gone.json: no such file" in nanolint("config", "--baseline=gone.json").err
    assert nanolint("config", "--write-baseline=gone/x").status == 2
    assert "not allowed with" in nanolint(BASELINE, "--write-baseline=x").err
