"""Commands of a page, run as its reader runs them: in bash, nothing cached, in other processes.

Whoever adds a command to a page names here what cannot be run (``NOT_RUN``), or nothing.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.installed import pooled
from tests.support.project_tree import write_project
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

# By how a command begins: why no test runs it.
NOT_RUN = {
    "git clone": "needs the network",
    "python3 -m venv": "tests/stories/test_wheel.py installs the wheel, without the network",
    "pip install": "needs the network",
    "uvx": "needs the network",
    "nanolint trace": "needs a PyTorch; tests/trace has its own",
    "python benchmarks/": "takes minutes, and more packages",
    "python scripts/": "of the repository, and takes minutes",
    "scripts/": "of the repository; it has a test of its own",
    "NANOLINT_EDIT_SESSIONS=": "is a test, and takes hours",
}
SIZES = "n_layer, n_head, n_embd, compile = 1, 2, 64, False\n"
LARGE = f"# the run of the paper\nbatch_size = 64  # doubled later\nblock_size = 1024\n{SIZES}"
SMALL = f"batch_size = 2\nblock_size = 64\n{SIZES}"
SCRIPT = """\
import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=BATCH)  # doubled later
parser.add_argument("--depth", type=int, default=1)
parser.add_argument("--tokens", type=int, default=2**19)  # of a step
args = parser.parse_args()
assert args.tokens % (args.batch_size * 1024) == 0
passes = args.tokens // (args.batch_size * 1024)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.head = nn.Embedding(50304, 64), nn.Linear(64, 50304)
        self.layers = nn.ModuleList([nn.Linear(64, 64) for _ in range(args.depth)])

    def forward(self, x):
        hidden = self.wte(x)
        for layer in self.layers:
            hidden = layer(hidden)
        return nn.functional.cross_entropy(self.head(hidden).flatten(0, 1), x.flatten())


model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(10):
    for _ in range(passes):
        loss = model(torch.randint(50304, (args.batch_size, 1024), device="cuda")) / passes
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
"""
LAUNCHES = "#!/bin/bash\n" + "#\n" * 10 + "python scripts/base_train.py --depth=2 --batch_size=4\n"
# Found by its folder: a file that named it might be one that starts from it.
(EXAMPLE,) = (ROOT / "examples" / "backward_pass").glob("*.py")
ARGPARSE = {  # a config's name in a command of nanoGPT's, and the script's in its place
    "train.py config/train_gpt2.py": "train.py",
    "config/train_gpt2.py": "train.py",
    "config/*.py": "*.py",
    "config/": ".",
    "path/to/config.py": "train.py",
    EXAMPLE.name: "train.py",
}
BROKEN = re.compile(r"Traceback|internal error|that is a bug")
VERDICT = re.compile(r"fits|does not fit|\bfit\b")


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    status: int
    out: str
    err: str


def why_not_run(command: str) -> str | None:
    """Why no test runs a command; None for one that is run."""
    return next((why for begin, why in NOT_RUN.items() if command.startswith(begin)), None)


def nanogpt(root: Path) -> Path:
    """A project like nanoGPT's, with the files that the pages name."""
    files: dict[str, str | bytes] = {
        "config/train_gpt2.py": LARGE,
        "config/base.py": SMALL,
        "config/small.py": "batch_size = 1\n",
        "path/to/config.py": SMALL,
        EXAMPLE.name: EXAMPLE.read_bytes(),
        "scripts/base_train.py": SCRIPT.replace("BATCH", "4").replace("  # doubled later", ""),
        "run.sh": LAUNCHES,
    }
    return write_project(root, files)


def own_script(root: Path) -> Path:
    """A project of one script with argparse."""
    root.mkdir(exist_ok=True)
    (root / "train.py").write_text(SCRIPT.replace("BATCH", "64"), encoding="utf-8")
    (root / ".git").mkdir()
    return root


def for_script(command: str) -> str | None:
    """The same command for the project of one script; None if it names no file of the other."""
    found = command
    for before, after in ARGPARSE.items():
        found = found.replace(f" {before}", f" {after}")
    return None if found == command else found


def run(command: str, project: Path, program: Path) -> Ended:
    """Run a command in ``project``; asserts what holds for every one."""
    programs = pooled(program).parent
    home = project.parent / f"home-{project.name}"
    (home / "cache").mkdir(parents=True, exist_ok=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "NANOLINT", "XDG"))}
    environment = {
        **kept,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "NANOLINT_CACHE": str(home / "cache"),
        "NANOLINT_GPU": "rtx-4070",  # for a machine without a card, and commands without --gpu
    }
    line = command.replace(".venv/bin/nanolint", "nanolint")
    done = subprocess.run(
        ["bash", "-c", line], cwd=project, env=environment, capture_output=True, text=True
    )
    assert done.returncode in (0, 1), (command, done)
    assert not BROKEN.search(done.stdout + done.stderr), (command, done)
    return Ended(done.returncode, done.stdout, done.stderr)


def assert_told(command: str, project: Path, program: Path) -> None:
    """Run a command, and assert what its reader would notice."""
    done = run(command, project, program)
    words = shlex.split(command)
    if "--fix" in words:
        assert_fixed(command, project, program)
    elif {"rule", "gpus", "--write-baseline"} & set(words):
        assert done.out + done.err
        assert "--write-baseline" not in words or done.status == 0, (command, done)
    else:
        assert VERDICT.search(done.out), (command, done)


def assert_fixed(command: str, project: Path, program: Path) -> None:
    """After ``--fix``: the micro-batch has changed, comments are kept, and nothing is left."""
    (file,) = (each for each in project.rglob("*.py") if "doubled later" in each.read_text())
    text = file.read_text(encoding="utf-8")
    assert "64" not in text.partition("# doubled later")[0].rpartition("batch_size")[2], text
    assert "# doubled later" in text
    assert run(command, project, program).status == 0
    assert file.read_text(encoding="utf-8") == text
