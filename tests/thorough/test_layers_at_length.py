"""Imports run one way: from the edges (cli, lsp) down to plain data, and never in a circle.

These take seconds each.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest

from tests.support.repository import ROOT
from tests.unit.test_layers import LAYERS, RANK, imported, modules, name_of, unit


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
    for path in modules("nanolint/memory"):
        assert not imported(path) & {"libcst", "nanolint.rule", "nanolint.source"}, path
