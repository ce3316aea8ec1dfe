"""Fixes where the value that decides stands in another file than the script."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.unit.trainers.written_scripts import script

if TYPE_CHECKING:
    from pathlib import Path

CHECKED = """
assert total % (B * T) == 0
passes = total // (B * T)
"""
FROM_YAML = f"""
import yaml
config = yaml.safe_load(open("config.yaml"))["train"]
B, T, total = config["rows"], 512, config["total"]
{CHECKED}"""
FROM_JSON = f"""
import json
with open("config.json") as file:
    config = json.load(file)
B, T, total = config["rows"], 512, 2**15
{CHECKED}"""
FROM_TOML = f"""
import tomllib
with open("config.toml", "rb") as file:
    config = tomllib.load(file)
B, T, total = config["train"]["rows"], 512, 2**15
{CHECKED}"""
FROM_MODULE = f"""
from sizes import B
T, total = 512, 2**15
{CHECKED}"""
FROM_CLASS = f"""
from settings import Settings
settings = Settings()
B, T, total = settings.rows, 512, settings.total
{CHECKED}"""
CLASS = """\
from dataclasses import dataclass

@dataclass
class Settings:
    rows: int = 2_4   # of a pass
    total: int = 2**15
"""
SURFACES = {
    "yaml": (
        FROM_YAML,
        "config.yaml",
        "# all\r\ntrain: {rows: 24 , total: 32_768} # é\r\n",
        "# all\r\ntrain: {rows: 16 , total: 32_768} # é\r\n",
    ),
    "json": (
        FROM_JSON,
        "config.json",
        '{"a": "\\u00e9",\t"rows":24 }',
        '{"a": "\\u00e9",\t"rows":16 }',
    ),
    "toml": (
        FROM_TOML,
        "config.toml",
        "[train]  # all\r\nrows = 2_4\t# é\r\n",
        "[train]  # all\r\nrows = 16\t# é\r\n",
    ),
    "module": (FROM_MODULE, "sizes.py", "# sizes\nB = 24  # rows\n", "# sizes\nB = 16  # rows\n"),
    "class": (FROM_CLASS, "settings.py", CLASS, CLASS.replace("2_4", "16")),
}


@pytest.fixture(params=list(SURFACES.values()), ids=list(SURFACES))
def surface(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, bytes]:
    """A file with the value, and what it is to hold; train.py is beside it."""
    own, name, before, after = request.param
    (tmp_path / "train.py").write_text(script(own), encoding="utf-8")
    path = tmp_path / name
    path.write_bytes(before.encode())
    return path, after.encode()


def test_the_value_is_rewritten_where_it_stands(surface: tuple[Path, bytes]) -> None:
    path, after = surface
    text = path.with_name("train.py").read_bytes()
    found = nanolint("check", "train.py", "--fix")
    assert found.status == 0
    assert f"Fixed {path.name}: 1 × NL415" in found.out
    assert path.read_bytes() == after
    assert path.with_name("train.py").read_bytes() == text
    assert nanolint("check", "train.py", "--select=NL415").status == 0


def test_the_diff_is_of_that_file(surface: tuple[Path, bytes]) -> None:
    path, after = surface
    before = path.read_bytes()
    out = nanolint("check", "train.py", "--diff").out
    assert out.startswith(f"--- {path.name}\n+++ {path.name}\n")
    assert out.count("---") == 1
    changed = [line for line in after.decode().splitlines() if line not in before.decode()]
    assert [line[1:].rstrip("\r") for line in out.splitlines() if line[0] == "+"][1:] == changed
    assert path.read_bytes() == before


def test_programs_are_told_which_file(surface: tuple[Path, bytes]) -> None:
    path, _ = surface
    sarif = json.loads(nanolint("check", "train.py", "--output-format=sarif").out)
    (fix,) = sarif["runs"][0]["results"][0]["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == path.name
    (replacement,) = change["replacements"]
    assert replacement["insertedContent"]["text"] == "16"
    told = json.loads(nanolint("check", "train.py", "--output-format=json-full").out)
    (edit,) = told["next"]["edits"]
    assert edit["file"] == path.name
    assert edit["old"] != edit["new"]
    (found,) = json.loads(nanolint("check", "train.py", "--output-format=json").out)
    assert found["fix"]["edits"] == []
    (elsewhere,) = found["fix"]["elsewhere"]
    assert elsewhere["filename"] == path.name


def test_people_see_the_lines_of_that_file(surface: tuple[Path, bytes]) -> None:
    path, _ = surface
    out = nanolint("check", "train.py").out
    assert f"--> {path.name}" in out
    assert "1 fixable with --fix." in out


def test_a_script_from_standard_input_changes_no_file(surface: tuple[Path, bytes]) -> None:
    path, _ = surface
    before = path.read_bytes()
    text = path.with_name("train.py").read_bytes()
    found = nanolint("check", "-", "--stdin-filename=train.py", "--fix", stdin=text)
    assert (found.status, found.out.encode()) == (1, text)
    assert path.read_bytes() == before


def test_a_file_that_cannot_be_written_is_left_with_its_reason(surface: tuple[Path, bytes]) -> None:
    path, _ = surface
    before = path.read_bytes()
    path.with_name("other").hardlink_to(path)
    found = nanolint("check", "train.py", "--fix")
    assert found.status == 2
    assert "2 names (hard links)" in found.err
    assert path.read_bytes() == before


def test_what_another_script_trains_with_is_not_rewritten_unasked(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(script(FROM_MODULE), encoding="utf-8")
    (tmp_path / "again.py").write_text(script(FROM_MODULE), encoding="utf-8")
    sizes = tmp_path / "sizes.py"
    sizes.write_text("B = 24\n", encoding="utf-8")
    out = nanolint("check", "train.py").out
    assert "unsafe: again.py also uses values of sizes.py" in " ".join(out.split())
    assert nanolint("check", "train.py", "--fix").status == 1
    assert sizes.read_text(encoding="utf-8") == "B = 24\n"
    assert nanolint("check", "train.py", "--fix", "--unsafe-fixes").status == 0
    assert sizes.read_text(encoding="utf-8") == "B = 16\n"


def test_a_launch_line_says_which_file_it_is(tmp_path: Path) -> None:
    own = """
import argparse, yaml
parser = argparse.ArgumentParser()
parser.add_argument("--config", default="a.yaml")
with open(parser.parse_args().config) as file:
    config = yaml.safe_load(file)
B, T, total = config["rows"], 512, 2**15
"""
    (tmp_path / "train.py").write_text(script(own + CHECKED), encoding="utf-8")
    for name, rows in (("a.yaml", 8), ("big.yaml", 24)):
        (tmp_path / name).write_text(f"rows: {rows} # x\n", encoding="utf-8")
    launches = "python train.py --config big.yaml\npython train.py\n"
    (tmp_path / "run.sh").write_text(launches, encoding="utf-8")
    out = nanolint("check", "run.sh", "--diff").out
    assert [line for line in out.splitlines() if line[:1] == "+"] == [
        "+++ big.yaml",
        "+rows: 16 # x",
    ]
    assert "Fixed big.yaml: 1 × NL415" in nanolint("check", "run.sh", "--fix").out
    assert (tmp_path / "big.yaml").read_text(encoding="utf-8") == "rows: 16 # x\n"
    assert (tmp_path / "a.yaml").read_text(encoding="utf-8") == "rows: 8 # x\n"
    assert (tmp_path / "run.sh").read_text(encoding="utf-8") == launches
