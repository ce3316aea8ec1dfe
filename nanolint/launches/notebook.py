"""The launch lines in a notebook: ``!python train.py``, ``%%bash``, ``%run``.

A notebook is a JSON text: its strings are taken character by character, with where they stand.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from nanolint.launches.commands import argument
from nanolint.launches.launch import Found, once, path_from
from nanolint.launches.placed import Piece, Placed, joined
from nanolint.launches.script import launches_of
from nanolint.launches.shell.worlds import World
from nanolint.source.json_places import elements, members, skip
from nanolint.source.python import new_tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanolint.launches.commands import Argument

_SHELL_CELL = re.compile(r"%%(?:bash|sh|shell|script\s+(?:bash|sh))\b.*")
_WRITTEN_CELL = re.compile(r"%%(?:writefile|file)\s+(-a\s+|--append\s+)?(\S+)\s*")
_LINE = re.compile(
    r"(?P<before>[ \t]*(?:[A-Za-z_]\w*[ \t]*=[ \t]*)?)(?P<sign>!{1,2}|%)[ \t]*(?P<command>.*)",
    re.DOTALL,
)
_ENVIRONMENT = re.compile(r"(?:set_)?env\s+([A-Za-z_]\w*)[=\s]\s*(.*)")
_IN_BRACES = re.compile(r"(?<!\$)\{(?!\s)([^{},]*)\}")
_CONTINUED = re.compile(r"\\\r?\n")
_JOINT = re.compile("\0")
_FOLDER = ("cd", "chdir")


class NotANotebook(ValueError):
    """A text that is no notebook. Its text is one line."""


def find_launches(text: str) -> Iterator[Found]:
    """The runs that the code cells start, in their order. Raises NotANotebook."""
    yield from once(_Notebook(_cells(text)).found())


def _cells(text: str) -> list[Placed]:
    """The text of each cell; those that hold no code are empty."""
    try:
        cells = json.loads(text)["cells"]
        texts = [_source(cell) if cell.get("cell_type") == "code" else "" for cell in cells]
        placed = cell_sources(text) if any(texts) else []
        return [
            there if there is not None and there.text == each else Placed(each)
            for each, there in zip_longest(texts, placed[: len(texts)])
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise NotANotebook("it is not a notebook: it is not JSON with cells") from None


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(map(str, source))


class _Notebook:
    """Goes through the cells from the first to the last, as if each were run once."""

    def __init__(self, cells: Sequence[Placed]) -> None:
        self._cells = cells
        self._names = _python_values(cells)
        self._environment: dict[str, tuple[Argument, ...]] = {}
        self._folder: str | None = ""
        self._written: frozenset[str] = frozenset()
        self._configs: dict[str, Placed] = {}

    def found(self) -> Iterator[Found]:
        for number, cell in enumerate(self._cells, 1):
            first = cell.text.partition("\n")[0]
            written = _WRITTEN_CELL.fullmatch(first)
            if _SHELL_CELL.fullmatch(first):
                yield from self._shell(number, 2, cell.part(len(first) + 1), self._environment)
            elif written is not None:
                self._write(written[2], None if written[1] else cell.part(len(first) + 1))
            elif not first.startswith("%%"):
                yield from self._lines(number, cell)

    def _write(self, name: str, content: Placed | None) -> None:
        """A cell that writes a file; without ``content``, what the file then holds is not known."""
        path = path_from(self._folder, name)
        self._configs.pop(path or name, None)
        if content is None or path is None:
            self._written |= {name}
        else:
            self._written -= {name}
            self._configs[path] = content

    def _lines(self, number: int, cell: Placed) -> Iterator[Found]:
        row = 1
        for line in cell.sub(_CONTINUED, "\0").lines():
            placed = line.sub(_JOINT, " ")
            match = _LINE.fullmatch(placed.text)
            if match is not None:
                command = placed.group(match, "command")
                if match["sign"] == "%":
                    yield from self._magic(number, row, command.stripped())
                else:
                    yield from self._interpolated(number, row, command)
            row += 1 + line.text.count("\0")

    def _magic(self, number: int, row: int, line: Placed) -> Iterator[Found]:
        """``%cd``, ``%env`` and ``%run``; other magics start nothing."""
        name, _, rest = line.text.partition(" ")
        environment = _ENVIRONMENT.fullmatch(line.text)
        if environment is not None:
            value = line.group(environment, 2).stripped()
            self._environment[environment[1]] = (argument(value),)
        elif name in _FOLDER:
            world = World(folder=self._folder)
            list(launches_of(Placed(f"cd {rest}"), world))
            self._folder = world.folder
        elif name == "run" and ".py" in rest:
            started = joined(("python ", line.part(len(name) + 1)))
            yield from self._interpolated(number, row, started)

    def _interpolated(self, number: int, row: int, line: Placed) -> Iterator[Found]:
        """A line for the shell, in which ``{name}`` and ``$name`` are Python's first."""
        names = {name: (argument(value),) for name, value in self._names.items()}
        text = line.sub(_IN_BRACES, _as_variable)
        yield from self._shell(number, row, text, {**self._environment, **names})

    def _shell(
        self, number: int, row: int, text: Placed, variables: dict[str, tuple[Argument, ...]]
    ) -> Iterator[Found]:
        exported = frozenset(self._environment)
        world = World(dict(variables), exported, folder=self._folder, written=self._written)
        for each in launches_of(text, world):
            if each.matters:
                below = text.text.count("\n", 0, each.offset)
                launch = each.launch and replace(each.launch, cells=dict(self._configs))
                yield Found(row + below, launch, each.reason, cell=number)
        self._written |= world.written


def _as_variable(match: re.Match[str]) -> str:
    if ".." in match[1]:  # {1..3}, which is the shell's
        return match[0]
    return f"${{{match[1]}}}" if match[1].isidentifier() else "${expression}"


def _as_python(line: str) -> str:
    """A line with something in the place of what is not Python."""
    match = _LINE.fullmatch(line)
    return line if match is None else f"{match['before']}..."


def _python_values(cells: Sequence[Placed]) -> dict[str, Placed]:
    """The names that the cells give one plain value, and no other."""
    values: dict[str, Placed] = {}
    bound: list[str] = []
    for cell in cells:
        first = cell.text.partition("\n")[0]
        if _SHELL_CELL.fullmatch(first) or _WRITTEN_CELL.fullmatch(first):
            bound += re.findall(r"[A-Za-z_]\w*", first)  # where its output may go; the rest is none
            continue
        try:
            tree = new_tree("\n".join(map(_as_python, cell.text.split("\n"))))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            bound += re.findall(r"[A-Za-z_]\w*", cell.text)  # any of them may be set there
            continue
        bound += (
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        )
        for statement in tree.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                try:
                    value = ast.literal_eval(statement.value)
                except (ValueError, TypeError, MemoryError, RecursionError):
                    continue
                written = _written(cell, statement.value)
                as_text = str(value)
                same = written is not None and written.text == as_text
                values[statement.targets[0].id] = written if same and written else Placed(as_text)
    return {name: value for name, value in values.items() if bound.count(name) == 1}


def _written(cell: Placed, value: ast.expr) -> Placed | None:
    """The characters of a value in its cell."""
    rows = cell.text.split("\n")
    if value.end_lineno != value.lineno or not rows[value.lineno - 1].isascii():
        return None  # Python counts bytes there
    before = sum(len(row) + 1 for row in rows[: value.lineno - 1])
    return cell.part(before + value.col_offset, before + (value.end_col_offset or 0))


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PLAIN_OR_ESCAPED = re.compile(
    r"[^\\]+|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.",
    re.DOTALL,
)


def strings_of(text: str) -> Iterator[tuple[int, int]]:
    """The strings of a list of strings: what stands between the quotes of each."""
    for match in _STRING.finditer(text):
        yield match.start() + 1, match.end() - 1


def unescaped(inside: Placed) -> Placed:
    """What the characters between the quotes of a string stand for."""
    text = ""
    pieces: list[Piece] = []
    for match in _PLAIN_OR_ESCAPED.finditer(inside.text):
        at = len(text)
        if not match[0].startswith("\\"):
            text += match[0]
            pieces += (
                piece._replace(at=piece.at + at) for piece in inside.part(*match.span()).pieces
            )
            continue
        char = json.loads(f'"{match[0]}"')
        text += char
        span = inside.span(*match.span())
        if span is not None:
            pieces.append(Piece(at, len(char), span.start, span.end))
    return Placed(text, tuple(pieces))


def cell_sources(text: str) -> list[Placed]:
    """The source of each cell of a notebook, with its places. Raises ValueError for other JSON.

    Where a cell holds ``source`` twice, the last counts, as in Python's reader.
    """
    whole = Placed.whole(text)
    sources: list[Placed] = []
    for key, at in members(text, skip(text, 0)):
        if key != "cells":
            continue
        sources = []
        for cell in elements(text, at):
            source = Placed("")
            for name, start in members(text, cell):
                if name == "source":
                    source = _cell_source(text, start, whole)
            sources.append(source)
    return sources


def _cell_source(text: str, start: int, whole: Placed) -> Placed:
    """A string, or the strings of a list, in a row."""
    from nanolint.launches.placed import joined

    starts = [start] if text[start : start + 1] == '"' else list(elements(text, start))
    parts = []
    for each in starts:
        match = _STRING.match(text, each)
        if match is None:
            raise ValueError("a line of a cell is not a text")
        parts.append(unescaped(whole.part(match.start() + 1, match.end() - 1)))
    return joined(parts)
