"""``--set K=V``, the launch line and an edited default are one run, wherever the value is set."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

TRAINING = """
model = torch.nn.Linear(64, 1000).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(100):
    model(torch.randn(ROWS, 64, 64, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
FLAGS = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument(FLAG)
args = parser.parse_args()
"""
CLICK = """
import click
@click.command()
@click.option("--rows", default={})
"""
LOADER = """
class Loader:
    def __init__(self, rowsPARAMETER):
        self.rows = rows
loader = Loader(ARGUMENT)
"""


class Way(NamedTuple):
    """A value of a script: ``{}`` in its settings, or in those of ``file``; the name that it has
    for ``--set``; how the launch line gives it; and two values, of which the second is meant."""

    settings: str
    rows: str
    key: str = "rows"
    line: str = ""
    file: tuple[str, str] = ("", "")
    values: tuple[int, int] = (16, 8)
    main: str = ""  # the head of a function that trains


def flag(arguments: str, line: str, rows: str = "args.rows", **more: Any) -> Way:
    return Way(FLAGS.replace("FLAG", arguments), rows, line=line, **more)


SWITCH: dict[str, Any] = {"key": "small", "rows": "(8 if args.small else 16)"}
ON, OFF = {**SWITCH, "values": (False, True)}, {**SWITCH, "values": (True, False)}
WAYS = {
    "constant": Way("ROWS = {}", "ROWS", "ROWS"),
    "imported": Way("from prepare import N", "N", "N", file=("prepare.py", "N = {}")),
    "flag": flag('"--rows", type=int, default={}', "--rows {}"),
    "abbreviated flag": flag('"-r", "--rows", type=int, default={}', "--ro={}"),
    "flag of another name": flag('"--bs", dest="rows", type=int, default={}', "--bs {}"),
    "spelled as the flag": flag('"--bs", dest="rows", type=int, default={}', "--bs {}", key="bs"),
    "worked out default": flag('"--rows", type=int, default=2 * {} // 2', "--rows={}"),
    "set_defaults": flag('"--rows", type=int)\nparser.set_defaults(rows={}', "--rows={}"),
    "function of a type": flag('"--rows", type=lambda text: int(text), default={}', "--rows={}"),
    "switch that is put on": flag('"--small", action="store_true", default={}', "--small", **ON),
    "switch that is put off": flag('"--small", action="store_true", default={}', "", **OFF),
    "click": Way(CLICK, "rows", line="--rows {}", main="def main(rows)"),
    "class": Way("class Config:\n    rows = {}", "Config.rows"),
    "environment": Way('import os\nn = int(os.environ.get("N", {}))', "n", "N"),
    "dictionary": Way('config = {{"train": {{"rows": {}}}}}', 'config["train"]["rows"]'),
    "executed file": Way('exec(open("s.py").read())', "N", "N", file=("s.py", "N = {}")),
    "global by its name": Way('globals()["N"] = {}', "N", "N"),
    "JSON": Way(
        'import json\nconfig = json.load(open("c.json"))',
        'config["rows"]',
        file=("c.json", '{{"rows": {}}}'),
    ),
    "OmegaConf": Way(
        "from omegaconf import OmegaConf\n"
        'config = OmegaConf.merge(OmegaConf.load("c.yaml"), OmegaConf.from_cli())',
        "config.rows",
        line="rows={}",
        file=("c.yaml", "rows: {}\n"),
    ),
    "argument": Way(LOADER.replace("PARAMETER", "").replace("ARGUMENT", "rows={}"), "loader.rows"),
    "parameter": Way(LOADER.replace("PARAMETER", "={}").replace("ARGUMENT", ""), "loader.rows"),
}


def told(folder: Path, way: Way, value: int, *words: str) -> tuple[Any, ...]:
    name, text = way.file
    if name:
        (folder / name).write_text(text.format(value), encoding="utf-8")
    training = TRAINING.replace("ROWS", way.rows)
    if way.main:
        training = f"{way.main}:{training.replace(chr(10), chr(10) + '    ')}\nmain()\n"
    found = explained(folder, f"import torch\n{way.settings.format(value)}{training}", *words)
    return found["trust"], found["peak"], found["doubts"]


@pytest.mark.parametrize("name", WAYS)
def test_a_value_is_the_same_wherever_it_is_given(name: str, tmp_path: Path) -> None:
    way = WAYS[name]
    before, after = way.values
    expected = told(tmp_path, way, after)
    assert expected[0] == "read"
    assert told(tmp_path, way, before) != expected
    assert told(tmp_path, way, before, "--set", f"{way.key}={after}") == expected
    if way.line:
        words = shlex.split(way.line.format(after))
        assert told(tmp_path, way, before, "--", *words) == expected
