"""Settings that a script sets by names which a file has that is not there: no default stands for
what the file may say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.command import nanolint

if TYPE_CHECKING:
    from pathlib import Path

TRAINING = """
model = torch.nn.Linear(config.width, 64).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(config.batch, config.width, device="cuda")
    model(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
DATACLASS = """
import json
from dataclasses import dataclass
import torch
@dataclass
class Config:
    batch: int = 32
    width: int = 64
"""
PLAIN = """
import json
import torch
class Config:
    batch = 32
    width = 64
"""
OWN = """
import json
import torch
class Config:
    def __init__(self):
        self.batch, self.width = 32, 64
    def update(self, **given):
        for name, value in given.items():
            setattr(self, name, value)
    def load(self, path):
        with open(path) as file:
            for name, value in json.load(file).items():
                if hasattr(self, name):
                    setattr(self, name, value)
        return self
"""
PARSER = """
import argparse, json
import torch
parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--width", type=int, default=64)
"""
READ = 'json.load(open("over.json"))'
SETTING = {
    "setattr in a loop": f"""{DATACLASS}
config = Config()
for name, value in {READ}.items():
    setattr(config, name, value)""",
    "setattr in a function": f"""{DATACLASS}
def override(settings):
    for name, value in {READ}.items():
        setattr(settings, name, value)
config = Config()
override(config)""",
    "__dict__": f"{DATACLASS}\nconfig = Config()\nconfig.__dict__.update({READ})",
    "vars": f"{DATACLASS}\nconfig = Config()\nvars(config).update({READ})",
    "defaults of a class": f"""{PLAIN}
config = Config()
for name, value in {READ}.items():
    setattr(config, name, value)""",
    "a class itself": f"""{PLAIN}
for name, value in {READ}.items():
    setattr(Config, name, value)
config = Config""",
    "a method": f"{OWN}\nconfig = Config()\nconfig.update(**{READ})",
    "its own method": f'{OWN}\nconfig = Config().load("over.json")',
    "flags": f"{PARSER}\nconfig = parser.parse_args()\nvars(config).update({READ})",
    "flags by another name": f"""{PARSER}
config = parser.parse_args()
found = vars(config)
found.update({READ})""",
    "defaults of flags": f"""{PARSER}
parser.set_defaults(**{READ})
config = parser.parse_args()""",
}


def explained(folder: Path, setting: str) -> Any:
    script = folder / "train.py"
    script.write_text(f"{setting}\n{TRAINING}", "utf-8")
    told = nanolint("explain", "--gpu", "rtx-4090", "--format", "json", str(script))
    return json.loads(told.out)


@pytest.mark.parametrize("setting", SETTING.values(), ids=SETTING)
def test_default_does_not_stand_for_what_a_file_may_set(tmp_path: Path, setting: str) -> None:
    told = explained(tmp_path, setting)
    assert told["peak"] is None
    assert "the contents of a file" in str(told["unresolved"])


@pytest.mark.parametrize("setting", SETTING.values(), ids=SETTING)
def test_file_that_is_there_is_taken(tmp_path: Path, setting: str) -> None:
    (tmp_path / "over.json").write_text('{"batch": 512}', "utf-8")
    assert explained(tmp_path, setting)["peak"] is not None


def test_names_of_a_module_are_known(tmp_path: Path) -> None:
    """``dir(module)``, over which settings are gathered into an object."""
    (tmp_path / "numbers_of_run.py").write_text("import math\nBATCH = 32\nWIDTH = 64\n", "utf-8")
    told = explained(
        tmp_path,
        """
import torch
import numbers_of_run
class Config:
    def __init__(self, module):
        for name in dir(module):
            if name.isupper():
                setattr(self, name.lower(), getattr(module, name))
config = Config(numbers_of_run)
""",
    )
    assert told["peak"] is not None
    assert not told["doubts"]
