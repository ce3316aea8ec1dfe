"""The texts that a script is made of: its own, and what it imports or runs within the project."""

from __future__ import annotations

import ast
import posixpath
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import names
from nanolint.files.notes import memo
from nanolint.run.program import SourceText
from nanolint.source.python import nodes, statements
from nanolint.trainers.nanogpt.configurator import WORDS
from nanolint.trainers.nanogpt.reading import read_source, syntax_tree
from nanolint.trainers.script.modules import find_module, roots_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAIN = "__main__"
MOST_MODULES = 60
PROGRAM = ".py"
EXEC = "exec"
IMPORTERS = frozenset({"import_module", "__import__"})


@memo
def sources(
    text: str, path: Path, named: tuple[str, ...] = ()
) -> tuple[tuple[Path, SourceText], ...]:
    """The script, and what it imports within the project, or imports by a name in its settings."""
    roots = roots_of(path)
    found = {path: SourceText(MAIN, shown(path, roots), text)}
    unusable: set[Path] = set()
    waiting = [(path, MAIN, text)]
    while waiting and len(found) < MOST_MODULES:
        around, name, source = waiting.pop(0)
        try:
            tree: ast.Module = syntax_tree(source)
        except (Unusable, RecursionError):
            continue  # what it has is not known, and named where it is used
        package = around.name == "__init__.py"
        wants = [*imported_names(tree, name, is_package=package), *(named if name == MAIN else ())]
        for wanted in (*wants, *executed_names(tree, roots), *chosen_names(tree, name, roots)):
            module = find_module(wanted, roots, None)
            if module is None or module in found or module in unusable:
                continue
            try:
                inner = read_source(module)
            except Unusable:
                unusable.add(module)
                continue
            found[module] = SourceText(wanted, shown(module, roots), inner)
            waiting.append((module, wanted, inner))
    return tuple(found.items())


def shown(path: Path, roots: tuple[Path, ...]) -> str:
    """A path as a reader of the project knows it: from the root that it lies below."""
    inside = [root for root in roots if path.is_relative_to(root)]
    return path.relative_to(inside[0]).as_posix() if inside else path.name


def imported_names(tree: ast.Module, name: str, *, is_package: bool) -> Iterator[str]:
    """The full names of the modules that one called ``name`` imports, and of what may be one.

    Behind them come the packages that they lie in, which Python runs before.
    """
    found: dict[str, None] = {}
    for node in statements(tree):
        if isinstance(node, ast.Import):
            found |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = name.split(".")
                drop = node.level - is_package
                parts = parts[: len(parts) - drop] if drop else parts
                base = ".".join((*parts, base) if base else parts)
            found[base] = None
            found |= dict.fromkeys(f"{base}.{alias.name}" for alias in node.names if base)
    yield from found
    for each in found:
        yield from (each[:at] for at, letter in enumerate(each) if letter == "." and at)


def executed_names(tree: ast.Module, roots: tuple[Path, ...]) -> Iterator[str]:
    """The names of all files that a program may run with ``exec``, by the paths in its text."""
    names = {each.id for each in nodes(tree) if isinstance(each, ast.Name)}
    if EXEC not in names:
        return
    for each in nodes(tree):
        path = each.value if isinstance(each, ast.Constant) else None
        if isinstance(path, str) and path.endswith(PROGRAM) and is_inside(path):
            text = text_of(find_module(module_at(path), roots, None))
            if text is not None and WORDS not in text:
                yield module_at(path)


def chosen_names(tree: ast.Module, name: str, roots: tuple[Path, ...]) -> Iterator[str]:
    """The names of all modules that a program may import by their text, as
    ``import_module(f"models.{kind}")`` does: those of the packages that its texts begin with, and
    those that its texts are."""
    called = (each.func for each in nodes(tree) if isinstance(each, ast.Call))
    asked = {getattr(each, "attr", getattr(each, "id", "")) for each in called}
    if not asked & IMPORTERS:
        return
    package = name.rpartition(".")[0]
    for each in nodes(tree):
        text = each.value if isinstance(each, ast.Constant) else None
        if not isinstance(text, str):
            continue
        if text.startswith(".") and package:
            text = package + text
        if not all(part.isidentifier() for part in text.removesuffix(".").split(".")):
            continue
        if not text.endswith("."):
            yield text
            continue
        for root in roots:
            folder = root.joinpath(*text.removesuffix(".").split("."))
            yield from (f"{text}{each.removesuffix(PROGRAM)}" for each in names(folder, "*.py"))


def is_inside(path: str) -> bool:
    """Whether a path leads to somewhere below where a script is run."""
    return not path.startswith("/") and not posixpath.normpath(path).startswith("..")


def module_at(path: str) -> str:
    """The name that a file would be imported by."""
    return posixpath.normpath(path).removesuffix(PROGRAM).replace("/", ".")


def text_of(found: Path | None) -> str | None:
    """The text of a file that ``exec`` may run, where it can be read."""
    if found is None or found.name == "__init__.py":
        return None
    try:
        return read_source(found)
    except Unusable:
        return None
