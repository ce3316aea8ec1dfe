"""The class that a script builds: where it is defined, and the defaults of its configuration."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import is_file
from nanolint.files.notes import memo
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.reading import read_source, syntax_tree

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nanolint.source.values import Plain

MOST_HOPS = 4  # from module to module, until the class is defined


@memo
def defaults_of(script: Path, model: str, config: str) -> Mapping[str, Plain]:
    """The fields of the class with the full name ``config`` that have a plain default.

    It is looked for beside the class ``model`` (``model.GPT``), which ``script`` builds. Empty
    where it is not found.
    """
    module, _, name = model.rpartition(".")
    path = file_of(module, script)
    if path is None:
        return {}
    try:
        _, tree = defined(path, name)
        return _fields(tree, config.rpartition(".")[2])
    except (Unusable, RecursionError):
        return {}


def file_of(module: str, script: Path) -> Path | None:
    """Where ``module`` is imported from by ``script``; the script itself for no module."""
    if not module:
        return script
    parts = [part for part in module.split(".") if part]
    for folder in (script.parent, script.parent.parent):
        for path in (
            folder.joinpath(*parts).with_suffix(".py"),
            folder.joinpath(*parts) / "__init__.py",
        ):
            if is_file(path):
                return path
    return None


def defined(path: Path, name: str) -> tuple[Path, ast.Module]:
    """The file that defines the class, and its tree; raises Unusable."""
    for _ in range(MOST_HOPS):
        tree = syntax_tree(read_source(path))
        if any(isinstance(node, ast.ClassDef) and node.name == name for node in tree.body):
            break
        onward = next(
            (
                node.module
                for node in tree.body
                if isinstance(node, ast.ImportFrom)
                and node.module
                and any((alias.asname or alias.name) == name for alias in node.names)
            ),
            None,
        )
        further = file_of(onward, path) if onward else None
        if further is None or further == path:
            break
        path = further
    return path, tree


def _fields(tree: ast.Module, name: str) -> dict[str, Plain]:
    """The fields of a class of configuration that have a plain default."""
    from nanolint.source.parse import parse

    fields: dict[str, Plain] = {}
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or node.name != name:
            continue
        for entry in node.body:
            target = entry.targets[0] if isinstance(entry, ast.Assign) else None
            target = entry.target if isinstance(entry, ast.AnnAssign) else target
            if isinstance(target, ast.Name) and isinstance(entry, (ast.Assign, ast.AnnAssign)):
                value = ast.unparse(entry.value) if entry.value is not None else "unset"
                known = parse(f"value = {value}\n").final.get("value")
                if isinstance(known, Known):
                    fields[target.id] = known.value
        if not node.decorator_list:
            fields |= _of_dataclasses(tree, node)
    return fields


def _of_dataclasses(tree: ast.Module, node: ast.ClassDef) -> dict[str, Plain]:
    """What the dataclasses give that a class without a decorator extends: their ``__init__`` is
    its own, so their values stand where it has others."""
    found: dict[str, Plain] = {}
    names = {each.id for each in node.bases if isinstance(each, ast.Name)} - {node.name}
    for each in tree.body:
        if isinstance(each, ast.ClassDef) and each.name in names and each.decorator_list:
            found |= _fields(tree, each.name)
    return found
