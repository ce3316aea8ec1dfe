"""The files of a project that a script is made of: their folders, texts, trees, and places in
them."""

from __future__ import annotations

import ast
import dataclasses
from dataclasses import field
from typing import TYPE_CHECKING

from nanolint.diagnostics import Span
from nanolint.errors import Unusable
from nanolint.files.door import FILE, exists, kind
from nanolint.files.notes import memo
from nanolint.regex import lazily
from nanolint.run.terms import Place
from nanolint.source.python import nodes, of_node
from nanolint.trainers.nanogpt.reading import read_source, syntax_tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from nanolint.source.settings_text import Node

_NEWLINE = lazily(r"\r\n|\r|\n")


@dataclasses.dataclass(slots=True, eq=False)
class Source:
    """A Python file of the project. ``path`` is None for a text that stands for no file."""

    path: Path | None
    name: str
    text: str
    tree: ast.Module
    _starts: list[int] = field(default_factory=list)
    _worlds: frozenset[str] | None = None

    def at(self, node: ast.expr | ast.stmt) -> Place:
        """The line of a node."""
        return Place(self.path, node.lineno)

    def place(self, node: ast.AST) -> Place:
        """Where a node stands, with its characters."""
        line = getattr(node, "lineno", 0)
        if not isinstance(node, (ast.expr, ast.stmt, ast.keyword)):
            return Place(self.path, line)
        end = (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        return Place(
            self.path, line, Span(self._offset(node.lineno, node.col_offset), self._offset(*end))
        )

    def _offset(self, line: int, column: int) -> int:
        # ast counts lines as the tokenizer does, which str.splitlines() does not, and bytes.
        if not self._starts:
            self._starts += [0, *(match.end() for match in _NEWLINE.finditer(self.text))]
        start = self._starts[line - 1]
        if self.text.isascii():
            return start + column
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        encoded = self.text[start:end].encode("utf-8", "surrogatepass")[:column]
        return start + len(encoded.decode("utf-8", "surrogatepass"))

    @property
    def worlds(self) -> frozenset[str]:
        """The names that are set from the number of processes somewhere in the file: where such a
        name is set to 1, that is the number of processes of a run without a launcher."""
        if self._worlds is None:
            self._worlds = frozenset(_worlds(self.tree))
        return self._worlds


def _worlds(tree: ast.Module) -> Iterator[str]:
    for node in nodes(tree):
        if isinstance(node, ast.Assign) and any(map(_asks_for_world, ast.walk(node.value))):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id


def _asks_for_world(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return node.value == "WORLD_SIZE"
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in ("get_world_size", "device_count", "num_processes")


def source_of(path: Path | None, name: str, text: str) -> Source:
    """The source of ``text``. Raises Unusable where it is not valid Python."""
    return Source(path, name, text, syntax_tree(text))


def roots_of(script: Path) -> tuple[Path, ...]:
    """The folders in which a script's own modules are looked for: its folder, then those above, up
    to the repository's. If it imports from a package that it lies in, ``python -m package.script``
    runs it from the folder of that package, which comes first then."""
    found: list[Path] = []
    for folder in script.absolute().parents:
        found.append(folder)
        if exists(folder / ".git") or exists(folder / "pyproject.toml") or len(found) == 4:
            break
    inside = {each.name: each.parent for each in found[:-1]}
    for name in _imported(script):
        above = inside.get(name.partition(".")[0])
        if above and find_module(name, [above], None) and not find_module(name, found[:1], None):
            found = list(dict.fromkeys([above, *found]))
            break
    return (*found, *(inner for each in found for inner in installed_from(each)))


def find_module(name: str, roots: Sequence[Path], around: Path | None) -> Path | None:
    """The file of the module ``name``, None where it is none of the project's.

    ``around`` is the file that imports it, for names that begin with dots.
    """
    dots = len(name) - len(name.lstrip("."))
    parts = name.lstrip(".").split(".") if name.strip(".") else []
    if dots and around is not None:
        folder = around.parent
        for _ in range(dots - 1):
            folder = folder.parent
        roots = (folder,)
    for root in roots:
        base = root.joinpath(*parts)
        for path in (base.with_suffix(".py") if parts else base, base / "__init__.py"):
            if path.suffix == ".py" and kind(path) == FILE:
                return path
    return None


def imports(path: Path) -> Iterator[str]:
    """What a file names in its imports: modules, and what it takes of each, which may be one."""
    source = read_module(path, path.stem) if path.suffix == ".py" else None
    for node in ast.walk(source.tree) if source is not None else ():
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = "." * node.level + (node.module or "")
            yield package
            dot = "" if package.endswith(".") else "."
            yield from (f"{package}{dot}{each.name}" for each in node.names)


@memo
def _imported(script: Path) -> tuple[str, ...]:
    return tuple(imports(script))


def read_module(path: Path, name: str) -> Source | None:
    """The module at ``path``, None where it cannot be read."""
    try:
        return source_of(path, name, read_source(path))
    except Unusable:
        return None


def calls(tree: ast.AST, method: str) -> bool:
    """Whether ``.method(...)`` is called anywhere in ``tree``."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == method
        for node in ast.walk(tree)
    )


@of_node
def changed_in(loop: ast.stmt) -> frozenset[str]:
    """The names that a loop works out from themselves, so that each turn has other values."""
    found = set()
    for node in ast.walk(loop):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            names = {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id in names and _counts(node.value):
                    found.add(target.id)
    return frozenset(found)


@of_node
def follows_from_turns(loop: ast.stmt) -> frozenset[str]:
    """The names whose values a loop works out anew in its turns: from its counter, from what it
    counts up, or from names that it works out so."""
    found = set(changed_in(loop))
    if isinstance(loop, ast.For):
        found |= _named(loop.target)
    assigned = [each for each in ast.walk(loop) if isinstance(each, ast.Assign)]
    while True:
        more = {
            name
            for each in assigned
            if _named(each.value) & found
            for target in each.targets
            if isinstance(target, (ast.Name, ast.Tuple))
            for name in _named(target)
        }
        if more <= found:
            return frozenset(found)
        found |= more


def _named(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _counts(value: ast.expr) -> bool:
    """Whether an expression is arithmetic, as against ``loss = loss / n`` on a tensor's method."""
    return isinstance(value, ast.BinOp)


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is made of literals alone: ``64``, ``2**19``, ``-1``, ``str(8)``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return node.func.id in ("int", "float", "str") and all(map(is_literal, node.args))
    if isinstance(node, ast.BinOp):
        return is_literal(node.left) and is_literal(node.right)
    if isinstance(node, ast.UnaryOp):
        return is_literal(node.operand)
    return isinstance(node, ast.Constant)


PYPROJECT = "pyproject.toml"
# Where setuptools has them: setuptools.pypa.io/en/latest/userguide/package_discovery.html.
PACKAGE_DIR = ("tool", "setuptools", "package-dir", "")
FIND = ("tool", "setuptools", "packages", "find", "where")


@memo
def installed_from(folder: Path) -> tuple[Path, ...]:
    """The folders below a project's from which its packages are imported."""
    found = [folder / "src"] if exists(folder / "src") else []
    if exists(folder / PYPROJECT):
        found += [folder / each for each in _packaged(folder / PYPROJECT)]
    return tuple(dict.fromkeys(found))


def _packaged(path: Path) -> Iterator[str]:
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
