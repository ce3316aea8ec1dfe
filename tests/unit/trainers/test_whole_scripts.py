"""A script whose loop, optimizer and evaluation are read like its model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.command import nanolint
from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import numpy as np
import torch, torch.nn as nn
from torch.nn import functional as F

B, T, TOTAL = 32, 256, 16384

class Net(nn.Module):
    def __init__(self, width=256, vocabulary=8192):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, width)
        self.inner = nn.ModuleList([nn.Linear(width, width) for _ in range(4)])
        self.head = nn.Linear(width, vocabulary, bias=False)
    def forward(self, idx, targets):
        x = self.wte(idx)
        for each in self.inner:
            x = x + F.gelu(each(x))
        logits = self.head(x)
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))

tokens = torch.from_numpy(np.memmap("train.bin", dtype=np.uint16, mode="r").astype(np.int64))

def batches():
    place = 0
    while True:
        part = tokens[place : place + B * T + 1]
        yield part[:-1].view(B, T).cuda(), part[1:].view(B, T).cuda()
        place += B * T

model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
loader = batches()
for step in range(100):
    for _ in range(TOTAL // (B * T)):
        x, y = next(loader)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(x, y)
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if loss.item() > 100:
        print("diverges")
"""


def in_the_step(found: dict[str, Any]) -> int:
    """The most that is allocated in the optimizer's step."""
    phases = {each["name"]: each["allocated_bytes"] for each in found["phases"]}
    return int(phases["optimizer"])


def test_its_number_is_read_without_a_doubt_of_the_loop(tmp_path: Path) -> None:
    found = explained(tmp_path, SCRIPT)
    assert found["trust"] == "read"
    assert found["doubts"] == []
    logits = 32 * 256 * 8192 * 4  # float32, of the cross-entropy
    assert logits < found["peak"]["allocated_bytes"] < 4 * logits


def test_memory_follows_the_micro_batch_that_is_set(tmp_path: Path) -> None:
    whole = explained(tmp_path, SCRIPT)["peak"]["allocated_bytes"]
    half = explained(tmp_path, SCRIPT, "--set", "B=16")["peak"]["allocated_bytes"]
    assert 0.4 * whole < half < 0.7 * whole


def test_an_optimizer_that_is_not_fused_takes_more_in_its_step(tmp_path: Path) -> None:
    plain = SCRIPT.replace(", fused=True", "")
    fused, foreach = (in_the_step(explained(tmp_path, text)) for text in (SCRIPT, plain))
    weights = 4 * (2 * 8192 * 256 + 4 * (256 * 256 + 256))
    steps = 512 * 10  # a counter of each parameter, which only the fused one has on the card
    assert foreach - fused == weights - steps


def test_gradients_that_are_kept_are_counted(tmp_path: Path) -> None:
    kept = SCRIPT.replace("set_to_none=True", "set_to_none=False")
    less, more = (explained(tmp_path, text)["peak"]["allocated_bytes"] for text in (SCRIPT, kept))
    assert more >= less


@pytest.mark.parametrize(
    ("before", "after", "culprit"),
    [
        ("        loss.b", "        if loss.item(): loss *= 2\n        loss.b", "if loss.item()"),
        ("loss = model(x, y)", "loss = strange.unheard_of(model(x, y))", "import strange"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_named_with_its_line(
    tmp_path: Path, before: str, after: str, culprit: str
) -> None:
    text = "import strange\n" + SCRIPT.replace(before, after)
    line = next(at for at, each in enumerate(text.split("\n"), 1) if culprit in each)
    path = tmp_path / "train.py"
    path.write_text(text, encoding="utf-8")
    done = nanolint("explain", str(path), "--gpu", "a100-40gb")
    assert "cannot be checked" in done.out
    assert f"train.py:{line})" in done.out


def test_an_evaluation_that_cannot_be_read_is_a_doubt(tmp_path: Path) -> None:
    text = SCRIPT.replace(
        "    optimizer.step()",
        "    if step % 10 == 0:\n        model.eval()\n        strange.score(model)\n"
        "        model.train()\n    optimizer.step()",
    )
    found = explained(tmp_path, "import strange\n" + text)
    assert found["trust"] == "doubted"
    assert any("cannot read an evaluation (train.py:" in each for each in found["doubts"])


MIDDLE = (
    "    if EVERY > 0 and {}:\n        model.eval()\n"
    "        model(x, y)\n        model.train()\n    optimizer.step()"
)


@pytest.mark.parametrize("test", ["step > 0 and step % EVERY == 0", "step % EVERY == EVERY - 1"])
def test_an_evaluation_in_the_middle_of_a_later_step_is_read(tmp_path: Path, test: str) -> None:
    middle = MIDDLE.format(test)
    text = SCRIPT.replace("    optimizer.step()", middle)
    later = explained(tmp_path, f"EVERY = 50\n{text}")
    assert later["doubts"] == []
    assert evaluated_late(later) > evaluated_late(explained(tmp_path, f"EVERY = 0\n{text}"))


EVALUATES = """
@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    loss = model(x, y)
    model.train()
    return loss.item()
"""


def in_a_function(text: str) -> str:
    """The script with its loop inside ``main``."""
    head, loop = text.split("model = Net()", 1)
    return f"{head}{EVALUATES}\ndef main():\n" + "".join(
        f"    {line}\n" for line in f"model = Net(){loop}".splitlines()
    ) + "\nmain()\n"  # fmt: skip


@pytest.mark.parametrize("every", [0, 50])
def test_an_evaluation_of_a_later_step_inside_a_function_is_read(
    tmp_path: Path, every: int
) -> None:
    text = SCRIPT.replace(
        "    optimizer.step()",
        "    if EVERY > 0 and step % EVERY == EVERY - 1:\n        evaluate(model, x, y)\n"
        "    optimizer.step()",
    )
    found = explained(tmp_path, f"EVERY = {every}\n{in_a_function(text)}")
    assert found["doubts"] == []
    assert (evaluated_late(found) > STATES) is bool(every)


def evaluated_late(found: dict[str, Any]) -> int:
    """The most that a later evaluation allocates; 0 where there is none."""
    phases = {each["name"]: each["allocated_bytes"] for each in found["phases"]}
    return int(phases.get("eval_late", 0))


STATES = 12 * (2 * 8192 * 256 + 4 * (256 * 256 + 256))  # parameters and Adam's moments


def test_an_evaluation_behind_the_loop_is_read(tmp_path: Path) -> None:
    text = f"{SCRIPT}print(evaluate(model, x, y))\n"
    found = explained(tmp_path, in_a_function(text))
    assert found["doubts"] == []
    logits = 4 * 32 * 256 * 8192
    assert evaluated_late(found) > STATES + logits


@pytest.mark.parametrize(("every", "comes"), [(50, True), (0, False), (1_000_000_000, False)])
def test_an_evaluation_that_a_later_step_begins_with_is_read(
    tmp_path: Path, every: int, comes: bool
) -> None:
    text = SCRIPT.replace(
        "    for _ in range(TOTAL",
        "    if EVERY > 0 and step > 3 and step % EVERY == 0:\n        evaluate(model, x, y)\n"
        "    for _ in range(TOTAL",
    )
    found = explained(tmp_path, f"EVERY = {every}\n{in_a_function(text)}")
    assert found["doubts"] == []
    assert (evaluated_late(found) > STATES) is comes


def test_an_evaluation_that_each_step_makes_is_none(tmp_path: Path) -> None:
    text = f"{SCRIPT}    print(evaluate(model, x, y))\n"
    assert explained(tmp_path, in_a_function(text))["doubts"] == []


def test_an_assertion_about_the_end_of_the_loop_is_no_doubt(tmp_path: Path) -> None:
    behind = "assert step == 99, step\nprint(evaluate(model, x, y))\n"
    found = explained(tmp_path, in_a_function(SCRIPT + behind))
    assert found["doubts"] == []
    assert evaluated_late(found) > STATES


def test_a_branch_of_an_evaluation_that_saves_the_best_model_is_read(tmp_path: Path) -> None:
    saves = (
        "    if step % 10 == 0:\n"
        "        losses = torch.zeros(5)\n"
        "        losses[0] = evaluate(model, x, y)\n"
        "        loss = losses.mean()\n"
        "        if loss < best:\n"
        "            best = loss\n"
        "            if step > 0:\n"
        "                torch.save({'model': model.state_dict()}, 'best.pt')\n"
    )
    text = SCRIPT.replace("    for _ in range(TOTAL", f"{saves}    for _ in range(TOTAL")
    text = text.replace("loader = b", "best = 1e9\nx, y = next(batches())\nloader = b")
    found = explained(tmp_path, in_a_function(text))
    assert found["doubts"] == []
    assert evaluated_late(found) > STATES
