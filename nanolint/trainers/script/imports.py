"""What an import gives: a module of the project, or something of a library."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.files.door import exists
from nanolint.run.equation import NotKnown
from nanolint.run.terms import Place
from nanolint.trainers.script.core import GOES_ON, Flow
from nanolint.trainers.script.modules import find_module
from nanolint.trainers.script.operations import scalar
from nanolint.trainers.script.things import External, Imported, Row, Scope, Thing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nanolint.trainers.script.core import Core


def _import(core: Core, statement: ast.Import, scope: Scope) -> Flow:
    for alias in statement.names:
        first = alias.name.partition(".")[0]
        name = alias.name if alias.asname else first
        found = _imported(core, name, scope) or External(name)
        core.state.journal.write(scope.names, alias.asname or first, found)
    return GOES_ON


def _imported(core: Core, name: str, scope: Scope) -> Imported | None:
    path = find_module(name, core.state.roots, scope.source.path)
    if path is not None and not name.startswith(".") and _is_library(path, name):
        return None
    inner = core.module(path, name) if path is not None else None
    return Imported(inner) if inner is not None else None


# What the libraries have that are known by name: in their own repositories they are no project.
_PARTS = {
    "accelerate": "accelerator.py",
    "deepspeed": "runtime/engine.py",
    "lightning": "pytorch/trainer/trainer.py",
    "transformers": "training_args.py",
    "trl": "trainer/sft_trainer.py",
}


def _is_library(path: Path, name: str) -> bool:
    first = name.partition(".")[0]
    above = next((each for each in path.parents if each.name == first), None)
    return above is not None and first in _PARTS and exists(above / _PARTS[first])


def _import_from(core: Core, statement: ast.ImportFrom, scope: Scope) -> Flow:
    module = "." * statement.level + (statement.module or "")
    owner = _imported(core, module, scope)
    place = Place(scope.source.path, statement.lineno)
    for alias in statement.names:
        if alias.name == "*":
            for key, value in _exported(core, owner, place) if owner else ():
                core.state.journal.write(scope.names, key, value)
            continue
        found: Thing = External(f"{module}.{alias.name}")
        if owner is not None:
            found = core.attribute(owner, alias.name, place)
        if owner is None or isinstance(found, NotKnown):
            separator = "" if module.endswith(".") else "."
            found = _imported(core, f"{module}{separator}{alias.name}", scope) or found
        core.state.journal.write(scope.names, alias.asname or alias.name, found)
    return GOES_ON


def _exported(core: Core, owner: Imported, place: Place) -> list[tuple[object, Thing]]:
    """What ``import *`` binds: the names that the module lists, else those without underscore."""
    names = owner.scope.names
    listed = names.get("__all__")
    if isinstance(listed, Row) and listed.count is None:
        chosen = [scalar(each) for each in listed.items]
        return [(key, core.attribute(owner, key, place)) for key in chosen if isinstance(key, str)]
    return [(key, value) for key, value in names.items() if not str(key).startswith("_")]


HANDLERS: dict[type[ast.stmt], Callable[..., Flow]] = {
    ast.Import: _import,
    ast.ImportFrom: _import_from,
}
