"""A trainer that stands in one file and is started in another: the run is what is started."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """
import torch
from torch import nn
from torch.nn import functional as F

class Net(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, width)
        self.head = nn.Linear(width, vocab_size)

    def forward(self, idx, targets):
        logits = self.head(self.wte(idx))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
"""
TRAINER = """
import torch

class {name}:
    def __init__(self, model, config):
        self.model, self.config = model.to("cuda"), config
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config.rate)

    def {run}(self):
        size = (self.config.batch_size, self.config.block_size)
        for step in range(self.config.steps):
            x = torch.randint(0, 1000, size, device="cuda")
            loss = self.model(x, x)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
"""
MAIN = """
import sys
from dataclasses import dataclass
from model import Net
from {module} import {name}

@dataclass
class Config:
    batch_size: int = 24
    block_size: int = 256
    rate: float = 1e-3
    steps: int = 100

def main():
    trainer = {name}(Net(1000, 64), Config())
    trainer.{run}()

if __name__ == "__main__":
    {entry}
"""


def project(folder: Path, name: str, run: str, entry: str, module: str = "engine") -> None:
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    (folder / f"{module}.py").write_text(TRAINER.format(name=name, run=run), encoding="utf-8")
    text = MAIN.format(module=module, name=name, run=run, entry=entry)
    (folder / "main.py").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "run", "entry"),
    [
        ("Trainer", "train", "main()"),
        ("GPTTrainer", "run", "sys.exit(main())"),
        ("Engine", "fit", "raise SystemExit(main())"),
        ("Loop", "train_model", "import fire; fire.Fire(main)"),
    ],
)
def test_the_file_that_starts_it_is_the_run(
    tmp_path: Path, name: str, run: str, entry: str
) -> None:
    project(tmp_path, name, run, entry)
    full = nanolint("check", ".", "--gpu", "rtx-4090", "--output-format=json-full").out
    (judged,) = json.loads(full)["runs"]
    assert judged["file"] == "main.py"
    assert (judged["trust"], judged["fits"]) == ("read", True)
    shown = nanolint("explain", "main.py", "--gpu", "rtx-4090").out
    assert "24" in next(line for line in shown.splitlines() if "micro-batch" in line)


def test_flags_of_a_started_function_are_its_parameters(tmp_path: Path) -> None:
    project(tmp_path, "Trainer", "train", "import fire; fire.Fire(main)")
    path = tmp_path / "main.py"
    text = path.read_text(encoding="utf-8")
    text = text.replace("def main():", "def main(batch_size=24):")
    path.write_text(text.replace("Config())", "Config(batch_size))"), encoding="utf-8")
    line = ("launch", "--gpu", "rtx-4090", "--", "python", "main.py", "--batch_size=48")
    assert "48" in nanolint("explain", *line[3:], "--gpu", "rtx-4090").out
    shown = nanolint("explain", "main.py", "--gpu", "rtx-4090").out
    assert "24" in next(line for line in shown.splitlines() if "micro-batch" in line)


def test_what_trains_nothing_is_still_no_run(tmp_path: Path) -> None:
    (tmp_path / "prepare.py").write_text(
        "from data import train_test_split, train_tokenizer\n"
        "parts = train_test_split([1, 2, 3])\ntrain_tokenizer(parts)\n",
        encoding="utf-8",
    )
    full = nanolint("check", ".", "--gpu", "rtx-4090", "--output-format=json-full")
    assert json.loads(full.out)["runs"] == []
    assert "prepare.py" not in full.out + full.err


def with_flags(folder: Path) -> None:
    project(folder, "Trainer", "fit", "main()")
    path = folder / "main.py"
    text = path.read_text(encoding="utf-8").replace(
        "def main():\n",
        "def main():\n    parser = argparse.ArgumentParser()\n"
        '    parser.add_argument("--batch-size", type=int, default=24)\n'
        "    args = parser.parse_args()\n",
    )
    text = text.replace("Config())", "Config(args.batch_size))")
    path.write_text(f"import argparse\n{text}", encoding="utf-8")


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "main.py", "--", "--batch-size", "8"),
        ("explain", "--", "main.py", "--batch-size", "8"),
        ("explain", "--", "python", "main.py", "--batch-size=8"),
        ("explain", "run.sh"),
    ],
)
def test_it_takes_its_own_flags_however_it_is_named(tmp_path: Path, words: tuple[str, ...]) -> None:
    with_flags(tmp_path)
    (tmp_path / "run.sh").write_text("python main.py --batch-size 8\n", encoding="utf-8")
    out = nanolint(*words).out
    assert "  micro-batch               8" in out
    assert "read from main.py" in out


def test_its_launch_line_is_checked(tmp_path: Path) -> None:
    with_flags(tmp_path)
    (tmp_path / "run.sh").write_text("python main.py --batch-size 8\n", encoding="utf-8")
    for words in (["run.sh"], ["--", "main.py", "--batch-size=8"], ["main.py"]):
        assert ": fits RTX 4090" in nanolint("--gpu=rtx-4090", *words).out
    refused = nanolint("--", "main.py", "--batch-sizes=8")
    assert (refused.status, refused.error.endswith("did you mean --batch-size?")) == (2, True)


def test_a_program_that_starts_nothing_is_no_launch(tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text("def main():\n    restrain(4)\nmain()\n", encoding="utf-8")
    (tmp_path / "run.sh").write_text("python tool.py --train\n", encoding="utf-8")
    assert "no line starts a training script" in nanolint("run.sh").out
