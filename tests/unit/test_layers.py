"""Imports run one way: from the edges (cli, lsp) down to plain data, and never in a circle.

The package keeps its size: no room is most of it, no folder lies deep, and it only gets smaller.
"""

from __future__ import annotations

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import pytest

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

# A package may import those of its own layer and of the layers below it.
LAYERS = [
    {"cli", "lsp", "__main__"},
    {"report"},
    {"trace"},
    {"linting"},
    {"rule"},
    {"verdict"},
    {"recording"},
    {"script"},
    {"interpreter", "inductor", "packages"},
    {"tensors"},
    {"tape"},
    {"trainers"},
    {"run", "profiles"},
    {"settings", "launches"},
    {"source", "gpus"},
    {"files", "diagnostics"},
    {"cached", "errors", "frames", "frozen", "regex", "units"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

# The only modules that lie at the top: plain data, errors, words. All else is in a package.
FLAT = {"__init__", "__main__", "diagnostics"} | LAYERS[-1]

# No room has more of the package's lines: it would be two.
LARGEST_ROOM = 0.15
DEEPEST = 3  # folders, ``nanolint`` not counted
MOST_LINES_OF_A_FILE = 600
# All of nanolint/, texts that are read included. A change that makes it smaller lowers these.
MOST_LINES, MOST_FILES = 107_000, 573

# What a rule author may build on; third-party packs have the same.
RULE_SURFACE = "nanolint.rule"


def modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@cache
def imported(path: Path) -> set[str]:
    """Every module that ``path`` imports, anywhere in the file."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def unit(module: str) -> str | None:
    """The part of nanolint that a module belongs to; None for other packages."""
    parts = module.split(".")
    return parts[1] if parts[0] == "nanolint" and len(parts) > 1 else None


def name_of(path: Path) -> str:
    """The dotted name of a module; that of a package for its ``__init__``."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_rules_build_on_the_rule_api_only() -> None:
    """On nanolint.rule, and on what is in their own pack."""
    others = [
        f"{path.relative_to(ROOT)} may not import {module}"
        for path in modules("rules")
        for module in imported(path)
        if module.split(".")[0] == "nanolint" and not module.startswith(RULE_SURFACE)
    ]
    assert others == []


def test_every_part_has_a_layer_and_the_top_holds_plain_data_only() -> None:
    for path in (ROOT / "nanolint").iterdir():
        if path.suffix == ".py":
            assert path.stem in FLAT
        if path.is_dir() and any(path.rglob("*.py")):
            assert path.name in RANK


def test_imports_run_downwards_and_to_their_own_layer_only() -> None:
    upwards = [
        f"{path.relative_to(ROOT)} may not import {module}"
        for path in modules("nanolint")
        for module in imported(path)
        if RANK.get(unit(module) or "", len(LAYERS)) < RANK.get(unit(name_of(path)) or "", 0)
    ]
    assert upwards == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    known = {name_of(path): path for path in modules("nanolint")}
    graph = {}
    for name, path in known.items():
        found = {each for each in imported(path) if each in known and each != name}
        # ``from package import module`` names both; the module is what is meant.
        graph[name] = {
            each for each in found if not any(other.startswith(f"{each}.") for other in found)
        }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_only_the_registry_names_the_built_in_rules() -> None:
    for path in modules("nanolint"):
        if path.name != "registry.py":
            assert not any(m.split(".")[0] == "nanolint_rules" for m in imported(path)), path


def test_the_replay_knows_neither_syntax_trees_nor_rules() -> None:
    rooms = ("verdict", "recording", "script", "interpreter", "inductor", "tensors", "tape")
    for path in (path for room in rooms for path in modules(f"nanolint/{room}")):
        assert not imported(path) & {"libcst", "nanolint.rule", "nanolint.source"}, path


def lines_of(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def test_no_room_is_most_of_the_package() -> None:
    rooms = {
        each.name: sum(map(lines_of, each.rglob("*.py")))
        for each in (ROOT / "nanolint").iterdir()
        if each.is_dir()
    }
    whole = sum(rooms.values())
    shares = {name: lines / whole for name, lines in rooms.items()}
    assert {name: f"{x:.1%}" for name, x in shares.items() if x > LARGEST_ROOM} == {}


def test_no_folder_lies_deeper_than_three() -> None:
    parts = {path.parent.relative_to(ROOT / "nanolint").parts for path in modules("nanolint")}
    assert {"/".join(each) for each in parts if len(each) > DEEPEST} == set()


def test_no_file_is_longer_than_one_idea() -> None:
    long = {
        str(path.relative_to(ROOT)): lines_of(path)
        for path in modules("nanolint")
        if lines_of(path) > MOST_LINES_OF_A_FILE
    }
    assert long == {}


def test_the_package_only_gets_smaller() -> None:
    """In lines and in files; whoever makes it smaller lowers the ceiling to what there is."""
    found = modules("nanolint")
    assert sum(map(lines_of, found)) <= MOST_LINES
    assert len(found) <= MOST_FILES
