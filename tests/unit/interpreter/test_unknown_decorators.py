"""What a library's decorator makes of a function or a class is not known, and is said so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
IMPORTS = "import os, copy, types, gc\n"
WIDTH = "B, T, V, C = 8, 256, 1000, 128\n"
FORWARD = "    def forward(self, x):\n"


def edited(*changes: tuple[str, str]) -> str:
    """The script with the first place of each of ``changes`` replaced."""
    text = BASE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def test_a_decorated_forward_is_a_doubt_with_the_library_and_its_line(tmp_path: Path) -> None:
    text = edited(
        (IMPORTS, f"{IMPORTS}from savers import recomputed\n"),
        (FORWARD, f"    @recomputed\n{FORWARD}"),
    )
    found = explained(tmp_path, text)
    assert found["trust"] == "doubted"
    assert found["doubts"] == [
        "the effect of a decorator on forward is not known: "
        "savers is not a module of the project (train.py:2)"
    ]


def test_one_that_is_never_called_changes_nothing(tmp_path: Path) -> None:
    unused = "import retrying\n@retrying.retry\ndef download():\n    return 'data'\n"
    assert explained(tmp_path, BASE + unused)["trust"] == "read"


def test_a_decorated_class_is_a_doubt(tmp_path: Path) -> None:
    text = edited(
        (IMPORTS, f"{IMPORTS}from registry import register\n"),
        ("class Block(", "@register('block')\nclass Block("),
    )
    found = explained(tmp_path, text)
    assert found["trust"] == "doubted"
    assert "the effect of a decorator on Block is not known" in str(found["doubts"])


@pytest.mark.parametrize("extends", [False, True])
def test_a_record_of_a_library_takes_what_it_is_given(tmp_path: Path, extends: bool) -> None:
    settings = "@dataclass\nclass Settings:\n    width: int = 64\n    depth: int = 3\n"
    if extends:
        settings += "class Wide(Settings):\n    pass\n"
    made = f"{'Wide' if extends else 'Settings'}(width=128).width"
    text = edited(
        (IMPORTS, f"{IMPORTS}from pydantic.dataclasses import dataclass\n{settings}"),
        (WIDTH, f"B, T, V, C = 8, 256, 1000, {made}\n"),
    )
    found, plain = explained(tmp_path, text), explained(tmp_path, BASE)
    assert found["peak"] == plain["peak"]
    assert found["trust"] == "doubted"


@pytest.mark.parametrize(
    "of",
    ["attr import dataclass", "attrs import define as dataclass", "attr import s as dataclass"],
)
def test_attrs_makes_dataclasses(tmp_path: Path, of: str) -> None:
    fields = "    width: int = 64\n    sizes: list = []\n"
    text = edited(
        (IMPORTS, f"{IMPORTS}from {of}\n@dataclass\nclass Settings:\n{fields}"),
        (WIDTH, "B, T, V, C = 8, 256, 1000, Settings(128).width\n"),
    )
    found = explained(tmp_path, text)
    if " s " in of:  # without auto_attribs it has no fields at all
        assert found["trust"] != "read"
        return
    assert found["trust"] == "read"
    assert found["peak"] == explained(tmp_path, BASE)["peak"]


@pytest.mark.parametrize("used", ["run()", "run(1, 2)", "run.register(print)", "print(run.name)"])
def test_what_a_decorated_function_takes_and_has_is_its_decorators_affair(
    tmp_path: Path, used: str
) -> None:
    text = (
        f"import conductor\n@conductor.main(config_name='base')\ndef run(cfg):\n    pass\n{used}\n"
    )
    found = explained(tmp_path, BASE + text)
    said = str(found)
    assert "raises" not in said
    assert "misses" not in said


def test_one_that_is_called_with_less_is_not_said_to_fail(tmp_path: Path) -> None:
    body = BASE.partition("device = ")
    main = "".join(f"    {line}\n" for line in (body[1] + body[2]).splitlines())
    text = f"import conductor\n{body[0]}@conductor.main()\ndef main(cfg):\n{main}main()\n"
    found = explained(tmp_path, text)
    why = str(found["unresolved"])
    assert (
        "the effect of a decorator on main is not known: conductor is not a module of the "
        "project" in why
    )
