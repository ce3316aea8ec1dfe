"""What an agent reads of a check: one object that says what to change to what (docs/agents.md)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.command import nanolint
from tests.support.own_scripts import GPU, own_script, put_profile
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = ROOT / "docs" / "agents.md"
COMMAND = re.search(r"--select (\S+) --output-format json-full", PAGE.read_text(encoding="utf-8"))
assert COMMAND is not None
RUNS = COMMAND[1]
ARITHMETIC = """
TOTAL, B, T = 64 * 512, {B}, 512
assert TOTAL % (B * T) == 0
passes = TOTAL // (B * T)
"""
SMALL = """import torch
net = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.AdamW(net.parameters())
for step in range(100):
    loss = net(torch.randn(8, 64, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Any]]:
    """Check an edited train.py whose baseline was traced."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "train.py"
    script.write_text(own_script(ARITHMETIC.format(B=16)))
    put_profile(tmp_path, script)

    def checked(text: str) -> dict[str, Any]:
        script.write_text(text)
        outcome = nanolint("train.py", "--gpu", GPU, "--select", RUNS, "--output-format=json-full")
        found: dict[str, Any] = json.loads(outcome.out)
        assert outcome.status == bool(found["findings"])
        return found

    return checked


def test_it_runs_and_fits(check: Callable[[str], dict[str, Any]]) -> None:
    found = check(own_script(ARITHMETIC.format(B=8)))
    (run,) = found["runs"]
    assert (run["fits"], run["trust"]) == (True, "traced")


@pytest.mark.parametrize(("batch", "code", "fits"), [(32, "NL101", False), (24, "NL415", None)])
def test_which_constant_to_what(
    check: Callable[[str], dict[str, Any]], batch: int, code: str, fits: bool | None
) -> None:
    text = own_script(ARITHMETIC.format(B=batch))
    found = check(text)
    (finding,) = found["findings"]
    assert finding["code"] == code
    assert finding["fix"]["title"] == "Set B = 16"
    (edit,) = finding["fix"]["edits"]
    row, column = edit["location"].values()
    assert text.splitlines()[row - 1][column - 1 :].startswith(str(batch))
    assert edit["content"] == "16"
    if fits is not None:
        assert found["runs"][0]["fits"] is fits


def test_what_to_do_next(check: Callable[[str], dict[str, Any]]) -> None:
    text = own_script(ARITHMETIC.format(B=24))
    found = check(text)["next"]
    assert list(found) == ["action", "why", "safety", "edits"]
    assert (found["action"], found["safety"]) == ("edit", "safe")
    (edit,) = found["edits"]
    assert list(edit) == ["file", "line", "old", "new"]
    assert text.splitlines()[edit["line"] - 1] == edit["old"]
    after = check(text.replace(edit["old"], edit["new"]))["next"]
    assert (after["action"], after["edits"]) == ("run", [])


def test_what_does_not_fit_is_not_said_to_fit_where_it_is_in_doubt(
    check: Callable[[str], dict[str, Any]],
) -> None:
    text = own_script(ARITHMETIC.format(B=32))
    check(text)
    profile = next(Path(".nanolint").glob("*.json"))
    told = json.loads(profile.read_text("utf-8"))
    told["compute_capability"] = [9, 0]  # that of another card than the one asked about
    profile.write_text(json.dumps(told), encoding="utf-8")
    answer = check(text)
    assert answer["runs"][0]["fits"] is False
    found = answer["next"]
    assert (found["action"], found["safety"]) == ("try", "unsafe")
    assert "does not fit" in found["why"]
    assert found["edits"][0]["new"] == "TOTAL, B, T = 64 * 512, 16, 512"


def test_an_edit_of_a_script_with_other_line_ends_keeps_them(
    check: Callable[[str], dict[str, Any]],
) -> None:
    text = own_script(ARITHMETIC.format(B=24)).replace("\n", "\r\n")
    (edit,) = check(text)["next"]["edits"]
    assert (edit["old"], edit["new"]) == (
        "TOTAL, B, T = 64 * 512, 24, 512",
        "TOTAL, B, T = 64 * 512, 16, 512",
    )


@pytest.mark.parametrize(
    ("text", "action", "why"),
    [
        ("def broken(:\n    loss.backward()\n", "change", "not valid Python"),
        (own_script(ARITHMETIC.format(B="int(input())")), "try", "not known"),
        (own_script(ARITHMETIC.format(B=8)).replace("384", "768"), "try", "is stale"),
    ],
)
def test_what_no_value_mends_and_what_nobody_knows(
    check: Callable[[str], dict[str, Any]], text: str, action: str, why: str
) -> None:
    found = check(text)["next"]
    assert found["action"] == action
    assert why in found["why"]


def test_of_a_model_that_was_edited_it_is_said_that_nothing_is_known(
    check: Callable[[str], dict[str, Any]],
) -> None:
    text = own_script(ARITHMETIC.format(B=8)).replace("dim: int = 384", "dim: int = 768")
    (run,) = check(text)["runs"]
    assert (run["fits"], run["trust"]) == (None, "unknown")
    assert "is stale" in " ".join(run["doubts"])


def test_what_was_passed_over_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    read = "    first = [int(each) for each in open('rows.txt').read().split()][0]\n"
    Path("train.py").write_text(SMALL + read)
    outcome = nanolint("train.py", "--gpu", GPU, "--output-format=json-full")
    found = json.loads(outcome.out)
    line = len(Path("train.py").read_text().splitlines())
    assert found["next"]["action"] == "run"
    assert f"not checked whether it runs: train.py:{line} (" in found["next"]["why"]
    assert [len(run["unread"]) for run in found["runs"]] == [1]
