"""A script that goes on from a checkpoint, whose sizes another script has written beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.command import nanolint

if TYPE_CHECKING:
    from pathlib import Path

NET = """
from dataclasses import dataclass
import torch, torch.nn as nn
from torch.nn import functional as F

@dataclass
class Config:
    context: int = 256
    vocabulary: int = 8192
    layers: int = 4
    width: int = 256

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.wte = nn.Embedding(config.vocabulary, config.width)
        self.inner = nn.ModuleList(
            [nn.Linear(config.width, config.width) for _ in range(config.layers)]
        )
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)

    def forward(self, idx, targets):
        x = self.wte(idx)
        for each in self.inner:
            x = x + F.gelu(each(x))
        logits = self.head(x)
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
"""
SAVING = """
import json, os, re
import torch
from net import Config, Net

def save(folder, step, model, meta):
    os.makedirs(folder, exist_ok=True)
    torch.save(model.state_dict(), os.path.join(folder, f"model_{step:06d}.pt"))
    with open(os.path.join(folder, f"meta_{step:06d}.json"), "w") as f:
        json.dump(meta, f)

def last(names):
    return max(int(re.search(r"(\\d+)", each).group(1)) for each in names)

def load(tag, device):
    root = os.path.join(os.path.expanduser("~"), "runs", "base")
    if tag is None:
        tag = f"d{last(os.listdir(root))}"
    folder = os.path.join(root, tag)
    step = last(os.listdir(folder))
    data = torch.load(os.path.join(folder, f"model_{step:06d}.pt"), map_location=device)
    with open(os.path.join(folder, f"meta_{step:06d}.json")) as f:
        meta = json.load(f)
    data = {key.removeprefix("_orig_mod."): each for key, each in data.items()}
    with torch.device("meta"):
        model = Net(Config(**meta["model"]))
    model.to_empty(device=device)
    model.load_state_dict(data, strict=True, assign=True)
    return model, meta
"""
LOOP = """
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
passes = args.total // (args.rows * 256)
assert args.total % (args.rows * 256) == 0
for step in range(100):
    for _ in range(passes):
        x = torch.randint(8192, (args.rows, 256), device="cuda")
        loss = model(x, x)
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
"""
PRETRAIN = f"""
import argparse, os
import torch
from net import Config, Net
from saving import save
parser = argparse.ArgumentParser()
parser.add_argument("--depth", type=int, default=4)
parser.add_argument("--rows", type=int, default=32)
parser.add_argument("--total", type=int, default=16384)
args = parser.parse_args()
config = dict(context=256, vocabulary=8192, layers=args.depth, width=args.depth * 64)
model = Net(Config(**config)).cuda()
{LOOP}
    if step == 99:
        folder = os.path.join(os.path.expanduser("~"), "runs", "base", f"d{{args.depth}}")
        meta = {{"model": config, "rows": args.rows, "total": args.total, "loss": loss.item()}}
        save(folder, step, model, meta)
"""
FINETUNE = f"""
import argparse
import torch
from saving import load
parser = argparse.ArgumentParser()
parser.add_argument("--tag", type=str, default=None)
parser.add_argument("--rows", type=int, default=None)
parser.add_argument("--total", type=int, default=None)
args = parser.parse_args()
model, meta = load(args.tag, torch.device("cuda"))
for name in ("rows", "total"):
    given, saved = getattr(args, name), meta.get(name)
    if given is None:
        setattr(args, name, saved)
    elif given != saved:
        print(f"{{name}} is not that of the checkpoint")
{LOOP}
"""
LINES = "python pretrain.py --depth=8 --rows=16\npython finetune.py\n"
TAKEN = "assuming that the checkpoint is the one that pretrain.py saves"
GPU = ("--isolated", "--gpu", "rtx-4070", "--torch-version", "2.13")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The four files and a launch script, in a folder with a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    texts = {"net": NET, "saving": SAVING, "pretrain": PRETRAIN, "finetune": FINETUNE}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    (folder / "run.sh").write_text(LINES, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def explained_at(name: str, *words: str) -> dict[str, Any]:
    """What ``explain`` says of a file of the project."""
    found: dict[str, Any] = json.loads(nanolint("explain", name, *words, "--format", "json").out)
    return found


def saved(home: Path, tag: str, step: int, layers: int, rows: int = 16) -> None:
    """What pretrain.py leaves in the home."""
    folder = home / "runs" / "base" / tag
    folder.mkdir(parents=True, exist_ok=True)
    model = {"context": 256, "vocabulary": 8192, "layers": layers, "width": layers * 64}
    meta = {"model": model, "rows": rows, "total": 16384, "loss": 1.5 / step}
    (folder / f"meta_{step:06d}.json").write_text(json.dumps(meta), encoding="utf-8")


def test_of_what_runs_before_it_in_the_same_file() -> None:
    found = explained_at("run.sh:2", *GPU)
    assert found["trust"] == "doubted"
    assert found["doubts"] == [f"{TAKEN} (run.sh:1)"]
    # PyTorch 2.13, traced on such a checkpoint, which lies on the card before the model does.
    assert found["phases"][0]["allocated_bytes"] == 83_918_848
    assert found["peak"]["allocated_bytes"] == 730_179_584
    assert found["peak"]["reserved_bytes"] == 807_403_520
    shown = nanolint("explain", "run.sh:2", *GPU).out
    assert shown.splitlines()[1].endswith(f" to spare), not certain: {TAKEN} (run.sh:1)")
    assert "16       --rows, of the checkpoint (run.sh:1)" in shown
    assert "8        layers, of the checkpoint (run.sh:1)" in shown


def test_of_what_lies_on_the_disk(tmp_path: Path) -> None:
    for step in (50, 99):
        saved(tmp_path / "home", "d8", step, layers=8)
    found = explained_at("finetune.py", *GPU)
    taken = "assuming that base/d*/meta_*.json is that of d8"
    only = f"{taken}, the only one that is there (meta_000099.json)"
    assert (found["trust"], found["doubts"]) == ("doubted", [only])
    assert found["peak"]["allocated_bytes"] == 730_179_584


def test_of_several_on_the_disk_the_largest_is_taken_and_said(tmp_path: Path) -> None:
    saved(tmp_path / "home", "d8", 10, layers=8)
    saved(tmp_path / "home", "d12", 10, layers=12)
    found = explained_at("finetune.py", *GPU)
    assert found["doubts"] == [
        "assuming that base/d*/meta_*.json is that of d12, one of 2 that are there "
        "(meta_000010.json)"
    ]
    assert found["roles"]["layers"]["value"] == 12


def test_a_tag_names_the_checkpoint(project: Path, tmp_path: Path) -> None:
    saved(tmp_path / "home", "d8", 10, layers=8)
    saved(tmp_path / "home", "d12", 10, layers=12)
    (project / "run.sh").write_text("python finetune.py --tag=d8\n", encoding="utf-8")
    found = explained_at("run.sh", *GPU)
    assert found["roles"]["layers"]["value"] == 8


def test_one_whose_name_is_known_is_in_no_doubt(project: Path, tmp_path: Path) -> None:
    saved(tmp_path / "home", "d8", 10, layers=8)
    named = SAVING.replace("step = last(os.listdir(folder))", "step = 10")
    (project / "saving.py").write_text(named, encoding="utf-8")
    (project / "run.sh").write_text("python finetune.py --tag=d8\n", encoding="utf-8")
    found = explained_at("run.sh", *GPU)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert nanolint("explain", "run.sh", *GPU).out.splitlines()[1].endswith(" to spare)")


def test_what_two_files_of_a_checkpoint_say_otherwise_is_not_known(tmp_path: Path) -> None:
    saved(tmp_path / "home", "d8", 10, layers=8, rows=16)
    saved(tmp_path / "home", "d8", 20, layers=8, rows=8)
    shown = nanolint("explain", "finetune.py", *GPU).out
    assert "?        the saved value of rows (meta_000020.json)" in shown


def test_where_none_is_there_it_is_said_what_would_save_one() -> None:
    shown = nanolint("explain", "finetune.py", *GPU, "--format", "json").out
    assert "read from base/d*/meta_*.json, which is not there" in shown
    assert "pretrain.py saves it, for which --set says with what: --set depth=4" in shown


def test_what_is_said_of_it_counts() -> None:
    found = explained_at("finetune.py", *GPU, "--set", "depth=8", "--set", "rows=16")
    assert found["doubts"] == [
        f"{TAKEN} with depth=8, rows=16 and its other defaults (pretrain.py)"
    ]
    assert found["peak"]["allocated_bytes"] == 730_179_584


def test_a_tag_that_no_run_before_it_saves_is_not_there(project: Path) -> None:
    lines = LINES.replace("finetune.py", "finetune.py --tag=d6")
    (project / "run.sh").write_text(lines, encoding="utf-8")
    shown = nanolint("explain", "run.sh:2", *GPU).out
    assert "read from base/d6/meta_*.json, which is not there" in shown


SMALL = ("--isolated", "--gpu", "900MiB", "--torch-version", "2.13", "--fix", "--unsafe-fixes")


def test_the_fix_of_a_launch_stands_on_its_own_line(project: Path) -> None:
    nanolint(*SMALL, "run.sh")
    text = (project / "run.sh").read_text(encoding="utf-8")
    assert text == "python pretrain.py --depth=8 --rows=8\npython finetune.py --rows=8\n"


def test_the_flag_that_has_no_value_takes_the_fix(project: Path, tmp_path: Path) -> None:
    saved(tmp_path / "home", "d8", 10, layers=8)
    before = (project / "finetune.py").read_text(encoding="utf-8")
    nanolint(*SMALL, "--select", "NL1", "finetune.py")
    after = (project / "finetune.py").read_text(encoding="utf-8")
    rows = 'parser.add_argument("--rows", type=int, default='
    assert after == before.replace(f"{rows}None)", f"{rows}8)")


MIDDLE = f"""{FINETUNE}
    if step == 99:
        meta = {{"model": meta["model"], "rows": args.rows, "total": args.total}}
        save(os.path.join(os.path.expanduser("~"), "runs", "base", "d99"), step, model, meta)
"""


def test_what_runs_before_it_may_go_on_from_another(project: Path) -> None:
    text = MIDDLE.replace("import argparse", "import argparse, os").replace(
        "load\n", "load, save\n"
    )
    (project / "middle.py").write_text(text, encoding="utf-8")
    lines = LINES.replace("\n", "\npython middle.py --rows=8\n", 1)
    (project / "run.sh").write_text(lines, encoding="utf-8")
    found = explained_at("run.sh:3", *GPU)
    last = "the one that middle.py saves, the last of 2 by its name"
    assert found["doubts"] == [f"assuming that the checkpoint is {last} (run.sh:2)"]
    assert (found["run"]["batch_size"], found["roles"]["layers"]["value"]) == (8, 8)
