"""Digests of code that stay the same when only its looks change.

Docstrings, comments, type hints, assertions, printing and logging, weight initialisation and the
names of local variables make no difference, nor does the name under which a module was imported
(``F.softmax``, ``torch.nn.functional.softmax``). The digest is the same on every Python version.
"""

from __future__ import annotations

import ast
import hashlib
from typing import TYPE_CHECKING, NamedTuple

from nanolint.source.python import nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# A call whose dotted name starts with one of these allocates nothing on the device.
QUIET_CALLS = (
    "print",
    "pprint",
    "logging",
    "logger",
    "log",
    "warnings",
    "wandb",
    "writer",
    "tqdm",
    "torch.nn.init",
    "self.apply",
    "time",
)
DIGEST_LENGTH = 16  # hexadecimal digits


def import_aliases(tree: ast.Module) -> dict[str, str]:
    """The full dotted name behind each name that ``tree`` imports anywhere."""
    aliases: dict[str, str] = {}
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                aliases[name.asname or name.name.split(".")[0]] = (
                    name.name if name.asname else name.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for name in node.names:
                aliases[name.asname or name.name] = f"{node.module}.{name.name}"
    return aliases


def dotted_name(node: ast.AST, aliases: Mapping[str, str]) -> str | None:
    """``torch.nn.functional.gelu`` for ``F.gelu``; None for what is not a dotted name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([aliases.get(node.id, node.id), *reversed(parts)])


class Piece(NamedTuple):
    """Statements, and every name that is local to the code that they are taken from."""

    statements: list[ast.stmt]
    local_names: frozenset[str]
    deletes_logits: bool = False  # right after the model gave them; not among the statements
    line: int | None = None  # where it begins, from 1


def digest(piece: Piece, aliases: Mapping[str, str]) -> str:
    """The digest of a piece of code in a module with these import aliases."""
    writer = _Writer(aliases, piece.local_names)
    for statement in piece.statements:
        writer.write(statement)
    return hashlib.sha256(writer.text().encode()).hexdigest()[:DIGEST_LENGTH]


def local_names(statements: Iterable[ast.stmt]) -> frozenset[str]:
    """Every name that the statements assign, or take as an argument; not ``self``."""
    names: set[str] = set()
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.arg):
                names.add(node.arg)
    return frozenset(names - {"self"})


def is_quiet(statement: ast.stmt, aliases: Mapping[str, str]) -> bool:
    """Whether a statement does nothing that a digest looks at."""
    if isinstance(statement, (ast.Pass, ast.Assert, ast.Import, ast.ImportFrom, ast.Global)):
        return True
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return True
    if isinstance(statement, ast.Expr):
        value = statement.value
        if isinstance(value, ast.Constant):
            return True
        if isinstance(value, ast.Call):
            name = dotted_name(value.func, aliases) or ""
            return any(name == quiet or name.startswith(quiet + ".") for quiet in QUIET_CALLS)
    if isinstance(statement, (ast.If, ast.For, ast.While, ast.With)):
        inner = statement.body + getattr(statement, "orelse", [])
        return all(is_quiet(entry, aliases) for entry in inner)
    return False


class _Writer:
    """Writes a tree in words of our own: ``ast.dump`` differs between Python versions."""

    # Fields that carry only looks, or that some versions of Python lack.
    _SKIPPED = frozenset(
        {"ctx", "annotation", "returns", "type_comment", "type_params", "kind", "simple"}
    )

    def __init__(self, aliases: Mapping[str, str], local_names: frozenset[str]) -> None:
        self._aliases = {k: v for k, v in aliases.items() if k not in local_names}
        self._local_names = local_names
        self._numbers: dict[str, int] = {}  # in order of appearance
        self._words: list[str] = []

    def text(self) -> str:
        """All that was written."""
        return " ".join(self._words)

    def write(self, node: object) -> None:
        """Write a node, a list of nodes, or a plain value."""
        if isinstance(node, ast.AST):
            self._write_node(node)
        elif isinstance(node, list):
            self._words.append("[")
            for entry in node:
                if not (isinstance(entry, ast.stmt) and is_quiet(entry, self._aliases)):
                    self.write(entry)
            self._words.append("]")
        else:
            self._words.append(f"{type(node).__name__}:{node!r}")

    def _write_node(self, node: ast.AST) -> None:
        name = dotted_name(node, self._aliases)
        if name is not None:
            self._words.append(self._local(name))
            return
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            kind = "function"
            fields: Iterator[tuple[str, object]] = iter(
                [("args", node.args), ("decorators", node.decorator_list), ("body", node.body)]
            )
        elif isinstance(node, ast.AnnAssign):
            kind = "Assign"
            fields = iter([("targets", [node.target]), ("value", node.value)])
        elif isinstance(node, ast.arg):
            kind, fields = "arg", iter([("arg", ast.Name(node.arg))])
        else:
            kind, fields = type(node).__name__, ast.iter_fields(node)
        self._words.append(f"({kind}")
        for field, value in fields:
            if field not in self._SKIPPED and value is not None and value != []:
                self._words.append(field)
                self.write(value)
        self._words.append(")")

    def _local(self, name: str) -> str:
        """A dotted name with a local variable in front replaced by its number."""
        first, dot, rest = name.partition(".")
        if first not in self._local_names:
            return name
        number = self._numbers.setdefault(first, len(self._numbers))
        return f"${number}{dot}{rest}"
