"""Which script a config belongs to, by the keys that it sets."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import entries, texts
from nanolint.files.notes import memo
from nanolint.trainers.nanogpt.keys import KEYS
from nanolint.trainers.nanogpt.reading import read_source, syntax_tree
from nanolint.trainers.nanogpt.script_project import scripts_in, settable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

DEPTH = 3  # of folders below a project's that are searched
MOST_FOLDERS = 60
MOST_FILES = 60  # of a folder
MOST_BYTES = 1 << 18
DEFINES = b"def "  # which a config does not


def keys_set(config: Path) -> frozenset[str]:
    """The keys that a config assigns; none of one that cannot be read."""
    try:
        tree = syntax_tree(read_source(config))
    except (Unusable, RecursionError):
        return frozenset()
    return frozenset(
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and not target.id.startswith("_")
    )


def belonging(config: Path, scripts: Sequence[Path]) -> list[Path]:
    """Those of ``scripts`` that have each key that the config sets and any of them has."""
    keys = {each: settable(each) for each in scripts}
    wanted = keys_set(config) & frozenset().union(*keys.values())
    return [each for each in scripts if wanted <= keys[each]]


@memo
def read_elsewhere(config: Path, script: Path) -> tuple[str, Path] | None:
    """A key that the config sets, that no script near reads, and a program further down that does:
    perhaps it is the config of another script."""
    near = scripts_in(script.parent)
    strange = keys_set(config) - KEYS.keys()
    for each in near:
        if not strange:
            return None
        strange -= _words(each)
    for key in sorted(strange):
        word = re.compile(rb"\b%s\b" % re.escape(key.encode()))
        for folder in folders_below(script.parent):
            for name, content in texts(folder, "*.py", MOST_BYTES, MOST_FILES):
                if folder / name != config and DEFINES in content and word.search(content):
                    return key, folder / name
    return None


def _words(path: Path) -> frozenset[str]:
    try:
        return frozenset(re.findall(r"[A-Za-z_]\w*", read_source(path)))
    except Unusable:
        return frozenset()


def folders_below(root: Path) -> Iterator[Path]:
    """The folders below one, the highest first."""
    waiting = [(root, 0)]
    found = 0
    while waiting and found < MOST_FOLDERS:
        folder, depth = waiting.pop(0)
        if depth:
            found += 1
            yield folder
        try:
            inner = entries(folder) if depth < DEPTH else ()
        except OSError:
            continue
        waiting += [(folder / name, depth + 1) for name, _ in inner if not name.startswith(".")]
