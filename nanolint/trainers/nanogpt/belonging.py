"""The script that a config belongs to: by the keys that it sets, and by the lines that launch
it."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import entries, read_bytes, texts
from nanolint.files.notes import memo
from nanolint.regex import lazily
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


MOST_LAUNCH_BYTES = 1 << 18  # of a README or a shell script
MOST_SHELL_FILES = 50
MOST_OF_SHELL = 30  # beside the scripts, with shell scripts of their own
_CONTINUED = lazily(r"\\\r?\n")
_SCRIPT = lazily(r"[\w./-]*?([\w-]+\.py)\b")


def launching(config: Path, root: Path | None) -> set[str]:
    """The names of the scripts that stand before the config on a line: ``train_x.py a.py``."""
    if root is None:
        return set()
    found = set()
    where = config.absolute().as_posix()
    named = re.compile(rf"[\w./-]*{re.escape(config.name)}")
    for text in (*_texts(root), *_said_in(config)):
        if config.name not in text:
            continue
        for line in _CONTINUED.sub(" ", text).splitlines():
            for each in named.finditer(line):
                if where.endswith(f"/{each[0].lstrip('./')}"):
                    found.update(_SCRIPT.findall(line[: each.start()])[-1:])
    return found


def _said_in(config: Path) -> list[str]:
    """The comments of the config itself, which may say how it is launched."""
    with suppress(Unusable):
        lines = read_bytes(config, MOST_LAUNCH_BYTES).decode("utf-8", "replace").splitlines()
        return ["\n".join(each for each in lines if each.lstrip().startswith("#"))]
    return []


def _texts(root: Path) -> list[str]:
    folders = [root]
    with suppress(OSError):
        folders += [root / name for name, _ in entries(root) if not name.startswith(".")]
    contents = [
        content
        for folder in folders[:MOST_OF_SHELL]
        for _, content in texts(folder, "*.sh", MOST_LAUNCH_BYTES, MOST_SHELL_FILES)
    ]
    with suppress(Unusable):
        contents.append(read_bytes(root / "README.md", MOST_LAUNCH_BYTES))
    return [content.decode("utf-8", "replace") for content in contents]
