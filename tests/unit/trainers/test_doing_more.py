"""Configs that do more than to set values, and scripts that fail before they have trained."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.unit.trainers.test_whole_forks import SCRIPT, after, explained

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = "batch_size = 16\nn_embd = 128\n"


def test_what_a_config_puts_on_the_card_is_counted(tmp_path: Path) -> None:
    more = f"import torch\n{CONFIG}table = torch.zeros(1024, 1024, 64, device='cuda')\n"
    plain, heavy = explained(tmp_path / "a", CONFIG), explained(tmp_path / "b", f"{more}print(1)\n")
    assert (heavy["trust"], heavy["doubts"]) == ("read", [])
    assert after(heavy, "forward") - after(plain, "forward") == 1024 * 1024 * 64 * 4


def test_what_a_config_puts_on_the_card_that_is_not_known_is_no_sure_number(tmp_path: Path) -> None:
    found = explained(tmp_path, f"{CONFIG}import images\nencoder = images.load().to('cuda')\n")
    assert found["trust"] == "unknown"
    assert "train_words.py:4" in str(found["unresolved"])


def test_a_script_is_no_config_of_its_own(tmp_path: Path) -> None:
    explained(tmp_path, CONFIG)
    words = ("--batch_size=16", "--n_embd=128")
    done = nanolint(
        *("explain", "--gpu", "a100-40gb", "--format", "json", "--"),
        *("python", str(tmp_path / "train.py"), *words),
    )
    found = json.loads(done.out)
    by_config = nanolint(
        *("explain", "--gpu", "a100-40gb", "--format", "json"),
        str(tmp_path / "config" / "train_words.py"),
    )
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] == json.loads(by_config.out)["peak"]


def test_a_function_of_a_config_is_called(tmp_path: Path) -> None:
    script = SCRIPT.replace("optimizer.zero_grad(set", "before_step(); optimizer.zero_grad(set")
    config = f"{CONFIG}def before_step():\n    return n_embd\n"
    assert explained(tmp_path, config, script=script)["doubts"] == []


def test_a_list_that_a_config_works_out_is_known(tmp_path: Path) -> None:
    script = SCRIPT.replace("n_embd = ", "widths = None\nn_embd = ", 1)
    assert script != SCRIPT
    config = f"{CONFIG}widths = [(4, n_embd * each) for each in (1, 2)]\n"
    uses = "optimizer.zero_grad(set"
    script = script.replace(uses, f"torch.zeros(widths[1], device=device); {uses}")
    found = explained(tmp_path, config, script=script)
    assert (found["trust"], found["doubts"]) == ("read", [])


@pytest.mark.parametrize("certain", [True, False])
def test_a_script_that_fails_before_it_has_trained_is_no_run(tmp_path: Path, certain: bool) -> None:
    script = SCRIPT.replace("print(validate())", "print(validate(), log_media)")
    if not certain:
        sets = "def sets():\n    global log_media\n    log_media = True\n"  # who calls it?
        script = script.replace("import os", f"{sets}import os")
    explained(tmp_path, CONFIG, script=script)
    config = tmp_path / "config" / "train_words.py"
    said = " ".join(nanolint("--gpu", "rtx-4070", str(config)).out.split())
    assert "NameError: name 'log_media' is not defined" in said and "train.py:" in said
    assert ("the run stops in step 1" in said) is certain


@pytest.mark.parametrize(
    ("body", "certain"),
    [
        ("seen += 1", True),
        ("loss = rate * 2\n    rate = 0.5", True),
        ("for _ in range(2):\n        print(rate)\n        rate = 0.5", False),
        ("rate = 0.5\n    print([rate for _ in range(2)], seen)", None),
        ("global seen\n    seen += 1", None),
        ("print([seen for rate in range(2)], rate)", None),
    ],
)
def test_a_name_that_a_function_uses_before_it_binds_it_is_not_the_modules(
    tmp_path: Path, body: str, certain: bool | None
) -> None:
    made = f"seen, rate = 0, 1.0\ndef counted():\n    {body}\n"
    script = SCRIPT.replace("import os", f"{made}import os", 1)
    script = script.replace("for it in range(max_iters):", "counted()\nfor it in range(max_iters):")
    found = explained(tmp_path, CONFIG, script=script)
    if certain is None:
        assert (found["trust"], found["doubts"]) == ("read", [])
        return
    said = " ".join(nanolint("--gpu", "rtx-4070", str(tmp_path / "config")).out.split())
    assert "cannot access local variable" in said
    assert "train.py:" in said
    assert ("the run stops before step 1" in said) is certain


@pytest.mark.parametrize("fails", [True, False])
def test_a_script_that_fails_with_a_config_is_not_the_one_that_runs_it(
    tmp_path: Path, fails: bool
) -> None:
    explained(tmp_path, CONFIG)
    other = SCRIPT.replace("print(validate())", "print(never_bound)") if fails else SCRIPT
    (tmp_path / "train_other.py").write_text(other, encoding="utf-8")
    config = tmp_path / "config" / "train_words.py"
    done = nanolint("explain", str(config), "--gpu", "a100-40gb", "--format", "json")
    doubts = json.loads(done.out)["doubts"]
    told = "train.py and train_other.py run configs; checked with train.py"
    assert doubts == ([] if fails else [told])


def test_a_key_that_may_be_set_somewhere_fails_not_for_certain(tmp_path: Path) -> None:
    line = "config = {'a': 1}\ndef sets(key):\n    config[key] = 1\nconfig['lr']"
    script = SCRIPT.replace("for it in range(max_iters):", f"{line}\nfor it in range(max_iters):")
    explained(tmp_path, CONFIG, script=script)
    said = " ".join(nanolint("--gpu", "rtx-4070", str(tmp_path / "config")).out.split())
    assert "KeyError: 'lr'" in said
    assert "because of the run" not in said


def test_weights_that_the_script_changes_itself_are_said_to_have_no_step(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        """
import torch, torch.nn as nn, torch.nn.functional as F
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(100, 32)
        self.head = nn.Linear(32, 100)
    def forward(self, idx):
        return self.head(self.wte(idx))
model = Net().to('cuda')
for step in range(100):
    x = torch.randint(100, (8, 64)).to('cuda')
    loss = F.cross_entropy(model(x).view(-1, 100), x.view(-1))
    model.zero_grad()
    loss.backward()
    for p in model.parameters():
        p.data -= 0.1 * p.grad
""",
        encoding="utf-8",
    )
    said = " ".join(
        nanolint("explain", "--gpu", "rtx-4090", str(tmp_path / "train.py")).out.split()
    )
    assert "the memory: no optimizer makes a step" in said
    assert "Tracing gives a number" not in said


def test_many_batches_of_an_evaluation_on_the_host_take_no_time(tmp_path: Path) -> None:
    script = SCRIPT.replace("cuda", "cpu").replace("range(eval_iters)", "range(10_000_000)")
    script = script.replace("losses.append(model(X, Y)[1].item())", "last = model(X, Y)[1].item()")
    script = script.replace("sum(losses) / len(losses)", "last")
    (tmp_path / "train.py").write_text(script, encoding="utf-8")
    said = nanolint("explain", "--gpu", "rtx-4090", str(tmp_path / "train.py")).out
    assert "takes too many steps" not in said
