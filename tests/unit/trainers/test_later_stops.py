"""A run that stops after its first steps: the finding names the step, and its number stays sure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """import torch
from torch import nn
from torch.nn import functional as F

net = nn.Sequential(nn.Embedding(96, 32), nn.Linear(32, 96)).cuda()
optimizer = torch.optim.AdamW(net.parameters())
for step in range(1000):
    x = torch.randint(96, (4, 8), device="cuda")
    loss = F.cross_entropy(net(x).flatten(0, 1), x.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    {test}
        {line}
"""


@pytest.mark.parametrize(
    ("test", "line", "said"),
    [
        ("if step == 499:", "optimizer.state_dicts()", "in step 500: AttributeError"),
        ("if step and step % 250 == 0:", "x.view(-1, 5)", "in step 251: RuntimeError"),
        ("if step == 999:", "torch.save(nett.state_dict(), 'x')", "in step 1,000: NameError"),
        ("if step == 499:", "exit(3)", "in step 500: SystemExit"),
    ],
)
def test_the_step_is_named(tmp_path: Path, test: str, line: str, said: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(test=test, line=line), encoding="utf-8")
    done = nanolint(str(script), "--gpu=rtx-4090")
    assert done.status == 1
    assert f"the run stops {said}: " in done.out
    found = explained(tmp_path, script.read_text("utf-8"), card="rtx-4090")
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["stop"].startswith(f"{said}: ") and found["stop"].endswith("(train.py:14)")
    shown = nanolint("explain", str(script), "--gpu=rtx-4090").out.splitlines()
    assert shown[1].startswith(f"the run stops {said}: ")


def test_what_fails_after_the_last_step_is_a_warning(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    evaluates = "net.eval()\nwith torch.no_grad():\n    net(x).vieww(3)\n"
    text = SCRIPT.format(test="if step == 1000:", line="pass") + evaluates
    script.write_text(text, encoding="utf-8")
    done = nanolint(str(script), "--gpu=rtx-4090")
    assert "warning[NL606]: the run stops after the last step: AttributeError" in done.out


def test_a_later_step_that_never_comes_stops_nothing(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(test="if step == 1000:", line="nett()"), encoding="utf-8")
    assert nanolint(str(script), "--gpu=rtx-4090").status == 0


@pytest.mark.parametrize("line", ["exit(0)", "exit()"])
def test_an_exit_without_a_failure_ends_the_run(tmp_path: Path, line: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(test="if step == 499:", line=line), encoding="utf-8")
    done = nanolint(str(script), "--gpu=rtx-4090")
    assert done.status == 0
    assert "stops" not in done.out


@pytest.mark.parametrize(
    ("line", "doubts"),
    [
        ("def f(x: Tenso) -> None: ...", ["before, Tenso is not defined"]),
        ("class Sizes:\n    width: itn = 3", ["before, itn is not defined"]),
        ("def f(x: 'Tenso', y: torch.Tensor = None) -> int: ...", []),
        ("def f():\n    x: Tenso = 3", []),
    ],
)
def test_a_name_that_only_an_annotation_has(tmp_path: Path, line: str, doubts: list[str]) -> None:
    text = SCRIPT.format(test="if step == 1000:", line="pass")
    text = text.replace("net = ", f"{line}\nnet = ")
    found = explained(tmp_path, text, card="rtx-4090")["doubts"]
    assert [each.partition(": ")[2].partition(" (")[0] for each in found] == doubts
    later = explained(tmp_path, f"from __future__ import annotations\n{text}", card="rtx-4090")
    assert later["doubts"] == []


def test_a_name_that_a_list_of_unknown_length_asks_for(tmp_path: Path) -> None:
    text = SCRIPT.format(test="if step == 1000:", line="pass")
    lines = "text = open('input.txt').read()\nencode = lambda s: [stoi[c] for c in s]\nencode(text)"
    script = text.replace("net = ", f"{lines}\nnet = ")
    found = explained(tmp_path, script, card="rtx-4090")["doubts"]
    assert [each.partition(": ")[2].partition(" (")[0] for each in found] == [
        "else, stoi is not defined"
    ]
    known = script.replace("text = open", "stoi = {}\ntext = open")
    assert explained(tmp_path, known, card="rtx-4090")["doubts"] == []


def test_a_host_tensor_that_learns_is_no_error(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    lines = "x = torch.randn(4, 3)\nx.requires_grad_(True)\nx.square().sum().backward()"
    text = SCRIPT.format(test="if step == 1000:", line="pass")
    script.write_text(text.replace("net = ", f"{lines}\nnet = "), encoding="utf-8")
    assert "NL603" not in nanolint(str(script), "--gpu=rtx-4090").out
