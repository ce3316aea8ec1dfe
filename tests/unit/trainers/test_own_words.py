"""Scripts that hand ``parse_args`` words of their own, or what another parser left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.command import nanolint
from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import argparse, sys
import torch, torch.nn as nn
from torch.nn import functional as F
first = argparse.ArgumentParser()
first.add_argument("--kind", default="plain")
parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=8)
parser.add_argument("--width", type=int, default=256)
parser.add_argument("--tied", action="store_true")
args = parser.parse_args(GIVEN)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(1000, args.width)
        self.head = nn.Linear(args.width, 1000, bias=False)
        if args.tied:
            self.head.weight = self.wte.weight
    def forward(self, x, y):
        return F.cross_entropy(self.head(self.wte(x)).view(-1, 1000), y.view(-1))
model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(100):
    x = torch.randint(1000, (args.batch_size, 128)).cuda()
    y = torch.randint(1000, (args.batch_size, 128)).cuda()
    loss = model(x, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def _read(folder: Path, given: str, *line: str) -> dict[str, Any]:
    return explained(folder, SCRIPT.replace("GIVEN", given), *line)


@pytest.mark.parametrize(
    "given",
    [
        "",
        "None",
        "args=None",
        "sys.argv[1:]",
        "first.parse_known_args()[1]",
        "namespace=first.parse_known_args()[0]",
    ],
)
def test_the_words_of_the_launch_line_count(tmp_path: Path, given: str) -> None:
    found = _read(tmp_path, given, "--set", "width=512")
    assert found["roles"]["micro-batch"]["value"] == 8
    assert found["roles"]["width"]["value"] == 512
    plain = _read(tmp_path, given)
    assert plain["trust"] == "read"
    assert found["peak"]["allocated_bytes"] > plain["peak"]["allocated_bytes"]


@pytest.mark.parametrize(
    ("given", "width"),
    [
        ('["--width", "512"]', 512),
        ('["--width=512", "--tied"]', 512),
        ('args=["--tied", "--width", "512"]', 512),
        ("[]", 256),
    ],
)
def test_words_of_the_script_count_in_their_place(tmp_path: Path, given: str, width: int) -> None:
    """The model is that of those words; a script without flags has the same memory."""
    found = _read(tmp_path, given)
    fixed = SCRIPT.replace("args.width", str(width)).replace("args.tied", str("--tied" in given))
    assert found["roles"]["width"]["value"] == width
    assert found["trust"] == "read"
    assert found["peak"] == explained(tmp_path, fixed.replace("GIVEN", ""))["peak"]


def test_a_micro_batch_among_them_is_not_the_default(tmp_path: Path) -> None:
    found = _read(tmp_path, '["--batch_size", "64"]')
    assert found["roles"]["micro-batch"]["value"] == 64


def test_words_that_only_a_run_has_leave_the_flags_unknown(tmp_path: Path) -> None:
    found = _read(tmp_path, "open('words.txt').read().split()")
    assert found["trust"] == "unknown"
    assert found["roles"]["micro-batch"]["value"] is None


def test_a_parser_tells_its_defaults(tmp_path: Path) -> None:
    told = SCRIPT.replace("GIVEN", "").replace(
        "model = Net()", "assert parser.get_default('tied') is False\nmodel = Net()"
    )
    wide = told.replace("args.width", "(2 * parser.get_default('width'))")
    assert explained(tmp_path, wide)["roles"]["width"]["value"] == 512


@pytest.mark.parametrize(
    "before",
    [
        'sys.argv += ["--width", "512"]',
        'sys.argv = ["train.py", "--width", "512"]',
        'sys.argv.extend(["--width=512"])',
    ],
)
def test_words_that_the_script_types_itself_are_taken_as_it_is_read(
    tmp_path: Path, before: str
) -> None:
    plain = SCRIPT.replace("GIVEN", "")
    text = plain.replace("args = parser", f"{before}\nargs = parser")
    wide = plain.replace("default=256", "default=512")
    found = explained(tmp_path, text)
    assert found["trust"] == "read"
    assert found["peak"] == explained(tmp_path, wide)["peak"] != explained(tmp_path, plain)["peak"]


ALONE = SCRIPT.replace('"--batch_size", type=int', '"batch_size", nargs="?", type=int')


@pytest.mark.parametrize(("words", "trust"), [((), "read"), (("32",), "unknown")])
def test_a_word_without_dashes_fills_a_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], trust: str
) -> None:
    (tmp_path / "train.py").write_text(ALONE.replace("GIVEN", ""), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    asked = ("explain", "--isolated", "--gpu", "a100-40gb", "--format", "json")
    done = nanolint(*asked, "--", "python", "train.py", *words)
    assert json.loads(done.out)["trust"] == trust


def test_so_does_one_of_the_scripts_own(tmp_path: Path) -> None:
    found = explained(tmp_path, ALONE.replace("GIVEN", '["32"]'))
    batch = ALONE.replace("GIVEN", "").replace("default=8", "default=32")
    assert found["trust"] == "read"
    assert found["peak"] == explained(tmp_path, batch)["peak"]
