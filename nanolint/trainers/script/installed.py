"""The folders that a project is installed from: ``src``, or what its pyproject.toml says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import exists
from nanolint.files.notes import memo
from nanolint.trainers.nanogpt.reading import read_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanolint.source.settings_text import Node

PYPROJECT = "pyproject.toml"
# Where setuptools has them: setuptools.pypa.io/en/latest/userguide/package_discovery.html.
PACKAGE_DIR = ("tool", "setuptools", "package-dir", "")
FIND = ("tool", "setuptools", "packages", "find", "where")


@memo
def installed_from(folder: Path) -> tuple[Path, ...]:
    """The folders below a project's from which its packages are imported."""
    found = [folder / "src"] if exists(folder / "src") else []
    if exists(folder / PYPROJECT):
        found += [folder / each for each in _named(folder / PYPROJECT)]
    return tuple(dict.fromkeys(found))


def _named(path: Path) -> Iterator[str]:
    """The folders that a pyproject.toml names; none where it cannot be read."""
    from nanolint.source.settings_text import Leaf, Listed, Mapped, NoSettings
    from nanolint.source.toml_text import read_toml

    try:
        whole = read_toml(read_source(path))
    except (Unusable, NoSettings):
        return
    for keys in (PACKAGE_DIR, FIND):
        node: Node | None = whole
        for key in keys:
            node = dict(node.entries).get(key) if isinstance(node, Mapped) else None
        for each in node.items if isinstance(node, Listed) else (node,):
            if isinstance(each, Leaf) and isinstance(each.value, str) and each.value != ".":
                yield each.value
