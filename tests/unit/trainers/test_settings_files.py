"""Values that a script reads from YAML and JSON of its project."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nanolint.launches.commands import Argument
from nanolint.run.described import Role
from nanolint.run.flags import read_line
from nanolint.run.settled import Options
from nanolint.trainers.script.resolve import described
from nanolint.trainers.script.surroundings import around_of
from tests.support.command import nanolint
from tests.unit.trainers.written_scripts import script

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.run.described import Described
    from nanolint.run.terms import Given

YAML = """\
# sizes
total: 32768
train: &train
  rows: 16 # of a pass
  width: 512
  lr: 1e-4
"""
JSON = '{"total": 32768, "train": {"rows": 16,\n "width": 512}}'
STEP = """
assert total % (B * T) == 0
passes = total // (B * T)
"""
PARSER = """
import yaml, argparse
parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=2)
parser.add_argument("--width", type=int, default=2)
"""
OF_TABLE = 'B, T, total = c["train"]["rows"], c["train"]["width"], c["total"]'
OF_FIELDS = "B, T, total = c.train.rows, c.train.width, c.total"
OF_ONE = "B, T, total = c.rows, c.width, 32768"
TRAIN = 'yaml.safe_load(open("c.yaml"))["train"]'
FORMS = {
    "with open": f'import yaml\nwith open("c.yaml") as f:\n    c = yaml.safe_load(f)\n{OF_TABLE}',
    "in a function": f"""
import yaml
def load(path):
    with open(path, "r") as f:
        return yaml.load(f, Loader=yaml.FullLoader)
c = load("c.yaml")
{OF_TABLE}""",
    "beside the script": f"""
import os, yaml
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "c.yaml")
c = yaml.safe_load(open(path))
{OF_TABLE}""",
    "a path": f"""
import json
from pathlib import Path
c = json.loads((Path(__file__).parent / "c.json").read_text())
{OF_TABLE}""",
    "json": f'import json\nc = json.load(open("c.json"))\n{OF_TABLE}',
    "a flag's default": f"{PARSER}c = argparse.Namespace(**{TRAIN})\n{OF_ONE}",
    "defaults of flags": f"""{PARSER}
parser.set_defaults(**{TRAIN})
c = parser.parse_args()
{OF_ONE}""",
    "set one by one": f"""{PARSER}
c = parser.parse_args()
for key, value in {TRAIN}.items():
    setattr(c, key, value)
{OF_ONE}""",
    "OmegaConf": f'from omegaconf import OmegaConf\nc = OmegaConf.load("c.yaml")\n{OF_FIELDS}',
    "EasyDict": f"""
import yaml
from easydict import EasyDict as edict
c = edict(yaml.safe_load(open("c.yaml")))
{OF_FIELDS}""",
}
MERGED = f"""
from omegaconf import OmegaConf
c = OmegaConf.merge(OmegaConf.load("c.yaml"), OmegaConf.from_cli())
{OF_FIELDS}"""


def found(folder: Path, settings: str, *words: str) -> Described:
    (folder / ".git").mkdir()
    (folder / "c.yaml").write_bytes(YAML.replace("\n", "\r\n").encode())
    (folder / "c.json").write_text(JSON, encoding="utf-8")
    text = script(f"{settings}\n{STEP}")
    path = folder / "train.py"
    path.write_text(text, encoding="utf-8")
    line = read_line([Argument(word) for word in words], {})
    answer = described(path, text, around_of(path, Options(line=line), None, 1))
    assert answer is not None
    return answer


def sizes(answer: Described) -> list[object]:
    return [answer.value(each) for each in (Role.MICRO_BATCH, Role.CONTEXT, Role.ACCUMULATION)]


def rows(answer: Described) -> Given:
    assert answer.equation is not None
    assert answer.equation.factor is not None
    return answer.equation.factor


@pytest.mark.parametrize("form", FORMS)
def test_what_stands_in_a_file_is_given_there(tmp_path: Path, form: str) -> None:
    answer = found(tmp_path, FORMS[form])
    assert sizes(answer) == [16, 512, 4]
    place = rows(answer).place
    assert place.path is not None
    assert place.span is not None
    text = place.path.read_bytes().decode()
    assert text[: place.span.start].endswith(("rows: ", '"rows": '))
    assert text[place.span.start : place.span.end] == "16"
    assert text[: place.span.start].count("\n") == place.line - 1


def test_the_launch_line_counts_more(tmp_path: Path) -> None:
    assert sizes(found(tmp_path, MERGED, "train.rows=8", "other")) == [8, 512, 8]


def test_a_flag_counts_more_than_its_default_of_a_file(tmp_path: Path) -> None:
    assert sizes(found(tmp_path, FORMS["defaults of flags"], "--rows=8")) == [8, 512, 8]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ('"d.yaml"', "read from d.yaml, which is not there"),
        ('"../c.yaml"', "read from ../c.yaml, which is not there"),
        ("input()", "read from a YAML file that only the run names"),
        ('"c.json"', None),  # a YAML reader takes it
    ],
)
def test_what_is_not_there_is_not_known(tmp_path: Path, name: str, why: str | None) -> None:
    answer = found(tmp_path, f"import yaml\nc = yaml.safe_load(open({name}))\n{OF_TABLE}")
    assert (answer.equation is None) is (why is not None)
    if why is not None:
        assert why in str(dict(answer.missing)[Role.MICRO_BATCH])


def test_a_text_that_is_no_yaml_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    (folder / "bad.yaml").write_text("a: [", encoding="utf-8")
    answer = found(folder, f'import yaml\nc = yaml.safe_load(open("bad.yaml"))\n{OF_TABLE}')
    assert "read from bad.yaml: it is not YAML" in str(dict(answer.missing)[Role.MICRO_BATCH])


SMALL = """
import yaml, json, torch
import torch.nn as nn
{settings}
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.wte = nn.Embedding(5000, width)
        self.head = nn.Linear(width, 5000)
    def forward(self, x, y):
        logits = self.head(self.wte(x))
        return nn.functional.cross_entropy(logits.view(-1, 5000), y.view(-1))
model = Net(width).cuda()
optimizer = torch.optim.AdamW(model.parameters())
passes = total // (B * T)
for step in range(100):
    for micro in range(passes):
        x = torch.randint(5000, (B, T), device="cuda")
        model(x, x).backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize("put_on_top", [(), ("--set", "rows=8")])
def test_memory_is_that_of_the_values_in_the_file(
    tmp_path: Path, put_on_top: tuple[str, ...]
) -> None:
    (tmp_path / ".git").mkdir()
    sizes = "total: 32768\nwidth: 256 # x\ntrain:\n  rows: 16  # y\n  T: 512\n"
    (tmp_path / "c.yaml").write_text(sizes)
    of = 'c["train"]["rows"], c["train"]["T"], c["total"], c["width"]'
    plain = f"rows = {8 if put_on_top else 16}\nB, T, total, width = rows, 512, 32768, 256"
    taken = {}
    for name, settings in {
        "file": f'c = yaml.safe_load(open("c.yaml"))\nB, T, total, width = {of}',
        "plain": plain,
    }.items():
        path = tmp_path / f"{name}_train.py"
        path.write_text(SMALL.format(settings=settings), encoding="utf-8")
        words = put_on_top if name == "file" else ()
        out = nanolint(str(path), "--gpu=4GiB", "--output-format=json-full", *words).out
        (run,) = json.loads(out)["runs"]
        taken[name] = (run["trust"], run["process_bytes"])
    assert taken["file"] == taken["plain"]
    assert taken["file"][0] == "read"
