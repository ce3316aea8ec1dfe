"""Training that cannot be read: what is said is what keeps it from being read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn
from torch.nn import functional as F

B, T = 8, 64

class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.wte = nn.Embedding(256, width)
        self.head = nn.Linear(width, 256)
    def forward(self, idx, targets):
        logits = self.head(F.gelu(self.wte(idx)))
        return F.cross_entropy(logits.view(-1, 256), targets.view(-1))

class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
    def train(self):
        for step in range(100):
            x = torch.randint(0, 256, (B, T), device="cuda")
            loss = self.model(x, x)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()

def train(model, optimizer):
    Trainer(model, optimizer).train()

if __name__ == "__main__":
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    {before}
    {train}
    model.eval()
    with torch.no_grad():
        x = torch.randint(0, 256, (B, T), device="cuda")
        model(x, x)
"""
WITH_AN_EVALUATION = SCRIPT.replace("{before}", "import peft")
CALLS = ["train(model, optimizer)", "trainer = Trainer(model, optimizer)\n    trainer.train()"]
TOGETHER = "if True:\n        peft.prepare(model)\n        {train}\n        model.eval()"


@pytest.mark.parametrize("call", CALLS)
def test_training_beside_an_evaluation_is_not_left_out_with_it(tmp_path: Path, call: str) -> None:
    """``model.eval()`` in the same block does not make an evaluation of it."""
    body = TOGETHER.replace("{train}", call.replace("\n", "\n    "))
    found = explained(tmp_path, WITH_AN_EVALUATION.replace("{train}", body))
    (reason,) = [each["reason"] for each in found["unresolved"]]
    assert "peft" in reason
    assert "third optimizer step" not in reason


def test_the_same_without_what_is_not_read_has_its_number(tmp_path: Path) -> None:
    text = WITH_AN_EVALUATION.replace("{train}", CALLS[1])
    assert explained(tmp_path, text)["trust"] == "read"


def test_a_loop_over_what_is_not_known_is_not_passed_over(tmp_path: Path) -> None:
    """Nothing in it is known to be on the card: its reason counts all the same."""
    loop = "for step in tqdm(range(100)):"
    text = SCRIPT.replace("for step in range(100):", loop)
    text = text.replace("{before}", "").replace("{train}", CALLS[0])
    found = explained(
        tmp_path, text.replace("import torch,", "from bars import tqdm\nimport torch,")
    )
    assert [each["reason"] for each in found["unresolved"]] == [
        "nanolint cannot read the script: bars is not a module of the project (train.py:2)"
    ]


RATE = """
def rate(step):
    if step < args.warm:
        return args.lr * step / args.warm
    return args.lr
"""


def test_a_rate_by_a_number_of_steps_that_only_the_data_tell(tmp_path: Path) -> None:
    """The flags that it asks have the device among them: that is not asked."""
    flags = (
        "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--device', default='cuda')\n"
        "parser.add_argument('--lr', type=float, default=0.1)\n"
        "parser.add_argument('--warm', type=int, default=10)\nargs = parser.parse_args()\n"
        "steps = len(open('data.txt').readlines())\n"
    )
    step = "            self.optimizer.step()"
    sets = "            for group in self.optimizer.param_groups:\n"
    sets += "                group['lr'] = rate(step + steps)\n"
    text = SCRIPT.replace("{before}", "").replace("{train}", CALLS[0])
    text = text.replace("class Trainer", f"{flags}{RATE}\nclass Trainer")
    assert explained(tmp_path, text.replace(step, sets + step))["trust"] == "read"


def test_the_classes_that_a_loss_ignores_may_depend_on_the_data(tmp_path: Path) -> None:
    chosen = "ignored = 0\n        if torch.any(targets == -100):\n            ignored = -100\n"
    text = SCRIPT.replace("{before}", "").replace("{train}", CALLS[0])
    text = text.replace("return F.cross", f"{chosen}        return F.cross")
    text = text.replace("targets.view(-1))", "targets.view(-1), ignore_index=ignored)")
    assert explained(tmp_path, text)["trust"] == "read"
