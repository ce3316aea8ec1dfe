"""A file of the project that a script runs with ``exec(open("config/small.py").read())``: what it
sets is set where that stands. One that reads the launch line is a configurator."""

from __future__ import annotations

import ast
import posixpath
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.trainers.nanogpt.configurator import WORDS
from nanolint.trainers.nanogpt.reading import read_source
from nanolint.trainers.script.modules import find_module

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIX = ".py"
CONFIGURATOR = "configurator.py"  # nanoGPT's: one that is not here does what that does


def executed(node: ast.AST, roots: tuple[Path, ...]) -> tuple[str, Path] | None:
    """The file that a call of ``exec`` runs, with the name that it would be imported by."""
    path = _named(node)
    if path is None or not path.endswith(SUFFIX) or path.startswith(("/", "..")):
        return None
    name = posixpath.normpath(path).removesuffix(SUFFIX).replace("/", ".")
    found = find_module(name, roots, None)
    if found is None or found.name == "__init__.py":
        return None
    try:
        text = read_source(found)
    except Unusable:
        return None
    return None if WORDS in text else (name, found)


def lacking(node: ast.AST, roots: tuple[Path, ...]) -> str | None:
    """The file that a call of ``exec`` runs, where that is not here and may set anything."""
    path = _named(node)
    if path is None or posixpath.basename(path) == CONFIGURATOR:
        return None
    inside = not path.startswith(("/", ".."))
    name = posixpath.normpath(path).removesuffix(SUFFIX).replace("/", ".")
    return None if inside and find_module(name, roots, None) is not None else path


def executed_names(tree: ast.Module, roots: tuple[Path, ...]) -> Iterator[str]:
    """The names of all files that a program runs so."""
    for node in ast.walk(tree):
        found = executed(node, roots) if isinstance(node, ast.Call) else None
        if found is not None:
            yield found[0]


def _named(node: ast.AST) -> str | None:
    """``"a.py"`` of ``exec(open("a.py").read())``, and of ``exec(compile(...))`` of the same."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
        return None
    if node.func.id not in ("exec", "compile"):
        return None
    text = node.args[0]
    if isinstance(text, ast.Call) and isinstance(text.func, ast.Name) and text.func.id == "compile":
        return _named(text)
    if not (isinstance(text, ast.Call) and isinstance(text.func, ast.Attribute)):
        return None
    opened = text.func.value
    if text.func.attr != "read" or not isinstance(opened, ast.Call) or not opened.args:
        return None
    is_open = isinstance(opened.func, ast.Name) and opened.func.id == "open"
    path = opened.args[0]
    if is_open and isinstance(path, ast.Constant) and isinstance(path.value, str):
        return path.value
    return None
