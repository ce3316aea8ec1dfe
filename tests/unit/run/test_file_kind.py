"""Configs are told from scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.source.parse import parse
from nanolint.trainers.nanogpt.kind import FileKind, classify, may_be_config
from nanolint.trainers.nanogpt.project import NANOGPT, find_project
from tests.support.project_tree import CONFIGURATOR, SAMPLE, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

UNCONFIGURED_SAMPLE = """\
import torch
dtype = 'float16'
compile = False
# exec(open('configurator.py').read())
with torch.no_grad():
    print(compile)
"""
KERNEL_TEST = """\
import torch
torch.manual_seed(0)
dtype = torch.float16
device = 'cuda'
"""
PROGRAM = """\
from common import get_batch
batch_size = 4
block_size = 8
if __name__ == "__main__":
    print(get_batch(batch_size, block_size))
"""
OF_A_RUNNER = (
    "max_iters = 9\nwandb_log = True\nstages = 2\nratios = '0.2'\nroot = 'r'\nunits = 3\ntop = 4\n"
)
MODEL = "class GPT:\n    n_layer = 3\n    n_head = 4\n"


def kind(root: Path, name: str, text: str, *, explicit: bool = False) -> FileKind:
    path = write_project(root, {name: text}) / name
    return classify(parse(text), text, path, find_project(path), explicit=explicit)


@pytest.mark.parametrize(
    ("name", "text", "implicit", "explicit"),
    [
        ("config/a.py", "batch_size = 3\nblock_size = 4\n", FileKind.CONFIG, FileKind.CONFIG),
        ("config/a.py", "batch_size = 3\nseed_all = 4\n", FileKind.CONFIG, FileKind.CONFIG),
        ("config/a.py", "batch_size = 3\nbatch_size = 4\n", FileKind.CONFIG, FileKind.CONFIG),
        ("config/sub/a.py", "n_layer = 96\n", FileKind.CONFIG, FileKind.CONFIG),
        ("lesson.py", PROGRAM, FileKind.SCRIPT, FileKind.SCRIPT),
        (
            "config/a.py",
            "exec(open('config/base.py').read())\nn_layer = 96\n",
            FileKind.CONFIG,
            FileKind.CONFIG,
        ),
        (
            "config/a.py",
            "for k, v in {'batch_size': 3}.items():\n    globals()[k] = v\n",
            FileKind.CONFIG,
            FileKind.CONFIG,
        ),
        ("tools/a.py", "batch_size = 3\nseed_all = 4\n", FileKind.SCRIPT, FileKind.CONFIG),
        ("config/a.py", "start = 'x'\nnum_samples = 4\n", FileKind.CONFIG, FileKind.CONFIG),
        ("config/a.py", "", FileKind.SCRIPT, FileKind.CONFIG),
        ("tools/a.py", "", FileKind.SCRIPT, FileKind.SCRIPT),
        ("tools/a.py", "batch_size = 3\n", FileKind.SCRIPT, FileKind.CONFIG),
        ("config/a.py", "# batch_size = 3\n", FileKind.SCRIPT, FileKind.CONFIG),
        (
            "config/a.py",
            "def f():\n    pass\nbatch_size = 3\nblock_size = 4\n",
            FileKind.CONFIG,
            FileKind.CONFIG,
        ),
        ("train.py", train_script(), FileKind.TRAIN_SCRIPT, FileKind.TRAIN_SCRIPT),
        ("train_too.py", train_script(), FileKind.TRAIN_SCRIPT, FileKind.TRAIN_SCRIPT),
        ("sample.py", SAMPLE, FileKind.SCRIPT, FileKind.SCRIPT),
        ("sample.py", UNCONFIGURED_SAMPLE, FileKind.SCRIPT, FileKind.CONFIG),
        ("tests/test_linear.py", KERNEL_TEST, FileKind.SCRIPT, FileKind.CONFIG),
        ("config/a.py", OF_A_RUNNER, FileKind.SCRIPT, FileKind.CONFIG),
        ("config/a.py", OF_A_RUNNER + "dtype = 'float16'\n", FileKind.CONFIG, FileKind.CONFIG),
        (
            "tools/train_x.py",
            "batch_size = 3\nblock_size = 4\nloss.backward()\n",
            FileKind.SCRIPT,
            FileKind.SCRIPT,
        ),
        ("model.py", MODEL, FileKind.SCRIPT, FileKind.SCRIPT),
        ("configurator.py", CONFIGURATOR, FileKind.SCRIPT, FileKind.SCRIPT),
    ],
)
def test_kinds(
    tmp_path: Path, name: str, text: str, implicit: FileKind, explicit: FileKind
) -> None:
    assert kind(tmp_path, name, text) is implicit
    assert kind(tmp_path, name, text, explicit=True) is explicit


def test_a_train_script_through_a_link_is_one(tmp_path: Path) -> None:
    root = write_project(tmp_path / "project")
    (tmp_path / "link").symlink_to(root)
    path = tmp_path / "link" / "train.py"
    found = classify(parse(""), path.read_text(), path, find_project(root / "a.py"), explicit=False)
    assert found is FileKind.TRAIN_SCRIPT


KEYS = frozenset({"batch_size", "block_size", "dtype"})


@pytest.mark.parametrize(
    ("text", "possible"),
    [
        ("batch_size = 3\nblock_size = 4\n", True),
        ("batch_size=3;block_size=4", True),
        ("batch_size = block_size = 4", True),
        ("batch_size, block_size = 3, 4", True),
        ("(batch_size, block_size) = 3, 4", True),
        ("batch_size: int = 3\r\nblock_size: int = 4\r\n", True),
        ("batch_size = 3\n", False),
        ("# batch_size = 3\n# block_size = 4\n", False),
        ("def f():\n    batch_size = 3\n    block_size = 4\n", False),
        ("print(batch_size, block_size)\n", False),
        ("", False),
    ],
)
def test_what_may_be_a_config(text: str, possible: bool) -> None:
    assert may_be_config(text, KEYS) is possible


@pytest.mark.parametrize(("name", "found"), [("a.py", "script"), ("config/a.py", "config")])
def test_names_of_its_own_make_a_program_where_no_train_script_is(
    tmp_path: Path, name: str, found: str
) -> None:
    text = (
        "batch_size = 4\nlearning_rate = 1.0\nworkers = 8\nelo = 1\nloss = 2\nwin = 3\ndraw = 1\n"
    )
    path = tmp_path / name
    assert classify(parse(text), text, path, NANOGPT, explicit=False).value == found
