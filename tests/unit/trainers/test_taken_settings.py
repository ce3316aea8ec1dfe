"""Settings on their way from a file or a table into what a script reads them from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.run.described import Role
from nanolint.run.equation import NotKnown
from nanolint.run.terms import Given
from tests.unit.trainers.written_scripts import read, script

if TYPE_CHECKING:
    from pathlib import Path

JSON = '{"batch_size": 6, "seq_len": 128, "accum": 4, "comment": "small"}'
YAML = "train:\n  batch_size: 6\n  seq_len: 128\n  accum: 4\n"
TOML = '# small\nname = "small"\n\n[train]\nbatch_size = 6  # rows\nseq_len = 128\naccum = 4\n'
HEAD = """
import json, tomllib, yaml, argparse
from dataclasses import dataclass, fields
from pathlib import Path
from pydantic import BaseModel, Field
from transformers import HfArgumentParser

@dataclass
class Config:
    batch_size: int = 8
    seq_len: int = 256
    accum: int = 2

@dataclass
class Small:
    batch_size: int = 6
    seq_len: int = 128
    accum: int = 4

class Model(BaseModel):
    batch_size: int
    seq_len: int
    accum: int = 4

class Described(BaseModel):
    batch_size: int = Field(6, description="rows", gt=0)
    seq_len: int = Field(default=128, description="columns")
    accum: int = Field(default_factory=lambda: 4)

class Box:
    def __init__(self, table):
        for key, value in table.items():
            setattr(self, key, Box(value) if isinstance(value, dict) else value)

class Bag:
    def __init__(self, **values):
        self.__dict__.update(values)

def table():
    return json.loads(Path("config.json").read_text())

def perhaps():
    try:
        with open("config.yaml") as file:
            return yaml.safe_load(file)
    except OSError:
        return None
"""
MANY = ", ".join(f"k{each}=1" for each in range(20))
TAKEN = {
    "those that a dataclass has": """
known = {each for each in Config.__dataclass_fields__}
cfg = Config(**{key: value for key, value in table().items() if key in known})
""",
    "those that fields() names": """
known = {each.name for each in fields(Config)}
cfg = Config(**{key: value for key, value in table().items() if key in known})
""",
    "each field with its default": """
raw = table()
cfg = Config(**{each.name: raw.get(each.name, each.default) for each in fields(Config)})
""",
    "many, one by one": f"""
cfg = Config()
for key, value in dict({MANY}, batch_size=6, seq_len=128, accum=4).items():
    setattr(cfg, key, value)
""",
    "tables in tables": "cfg = Box(yaml.safe_load(open('config.yaml'))).train\n",
    "the attributes themselves": "cfg = Bag(**table())\n",
    "pydantic": "cfg = Model(**table())\n",
    "pydantic's fields": "cfg = Described()\n",
    "tried": "found = perhaps()\ncfg = Bag(**found['train'])\n",
    "TOML": """
with open("config.toml", "rb") as file:
    cfg = Bag(**tomllib.load(file)["train"])
""",
    "transformers' parser": "(cfg,) = HfArgumentParser(Small).parse_args_into_dataclasses()\n",
}
USE = "B, T, passes = cfg.batch_size, cfg.seq_len, cfg.accum\n"
ROLES = (Role.MICRO_BATCH, Role.CONTEXT, Role.ACCUMULATION)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("config.json", JSON), ("config.yaml", YAML), ("config.toml", TOML)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("how", TAKEN)
def test_settings_arrive_where_they_are_read(how: str, folder: Path) -> None:
    found = read(script(HEAD + TAKEN[how] + USE), folder=folder)
    assert [found.value(role) for role in ROLES] == [6, 128, 4]


def test_entries_that_are_perhaps_left_out_are_not_known(folder: Path) -> None:
    chosen = "{key: value for key, value in table().items() if other.wants(key)}"
    found = read(script(f"{HEAD}\nimport other\ncfg = Config(**{chosen})\n{USE}"), folder=folder)
    assert all(isinstance(found.roles[role], NotKnown) for role in ROLES)


def test_a_value_of_toml_has_its_line_and_its_characters(folder: Path) -> None:
    found = read(script(HEAD + TAKEN["TOML"] + USE), folder=folder)
    given = found.roles[Role.MICRO_BATCH]
    assert isinstance(given, Given)
    span = given.place.span
    assert span is not None
    assert (given.place.line, TOML[span.start : span.end]) == (5, "6")


def test_toml_that_is_none_is_not_known(folder: Path) -> None:
    (folder / "config.toml").write_text("[train\nbatch_size = 6\n", encoding="utf-8")
    found = read(script(HEAD + TAKEN["TOML"] + USE), folder=folder)
    assert isinstance(found.roles[Role.MICRO_BATCH], NotKnown)


def test_what_is_perhaps_an_attribute_has_no_default(folder: Path) -> None:
    guess = "import other\ncfg = Bag(**other.settings())\nB = getattr(cfg, 'batch_size', 6)\n"
    found = read(script(f"{HEAD}\n{guess}T, passes = 128, 4\n"), folder=folder)
    assert isinstance(found.roles[Role.MICRO_BATCH], NotKnown)


def test_a_table_that_is_tried_for_is_not_known(folder: Path) -> None:
    tried = """
def profile():
    try:
        memory = torch.cuda.get_device_properties(0).total_memory
        return {"rows": 6, "memory": memory}
    except RuntimeError:
        return {"rows": 2}
B, T, passes = profile()["rows"], 128, 4
"""
    found = read(script(HEAD + tried), folder=folder)
    assert isinstance(found.roles[Role.MICRO_BATCH], NotKnown)
