"""The launch lines in a notebook: ``!python train.py``, ``%%bash``, ``%run``."""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING, Any

from nanolint.launches.commands import Argument
from nanolint.launches.found import Found, once
from nanolint.launches.script import launches_of
from nanolint.launches.shell.worlds import World

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SHELL_CELL = re.compile(r"%%(?:bash|sh|shell|script\s+(?:bash|sh))\b.*")
_WRITTEN_CELL = re.compile(r"%%(?:writefile|file)\s+(?:-a\s+)?(\S+)\s*")
_LINE = re.compile(
    r"(?P<before>[ \t]*(?:[A-Za-z_]\w*[ \t]*=[ \t]*)?)(!{1,2}|%)[ \t]*(.*)", re.DOTALL
)
_ENVIRONMENT = re.compile(r"(?:set_)?env\s+([A-Za-z_]\w*)[=\s]\s*(.*)")
_IN_BRACES = re.compile(r"(?<!\$)\{(?!\s)([^{},]*)\}")
_FOLDER = ("cd", "chdir")


class NotANotebook(ValueError):
    """A text that is no notebook. Its text is one line."""


def find_launches(text: str) -> Iterator[Found]:
    """The runs that the code cells start, in their order. Raises NotANotebook."""
    yield from once(_Notebook(_cells(text)).found())


def _cells(text: str) -> list[str]:
    """The text of each cell; those that hold no code are empty."""
    try:
        cells = json.loads(text)["cells"]
        return [_source(cell) if cell.get("cell_type") == "code" else "" for cell in cells]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise NotANotebook("it is no notebook: no JSON with cells") from None


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(map(str, source))


class _Notebook:
    """Goes through the cells from the first to the last, as if each were run once."""

    def __init__(self, cells: Sequence[str]) -> None:
        self._cells = cells
        self._names = _python_values(cells)
        self._environment: dict[str, tuple[Argument, ...]] = {}
        self._folder: str | None = ""
        self._written: frozenset[str] = frozenset()

    def found(self) -> Iterator[Found]:
        for number, cell in enumerate(self._cells, 1):
            first, _, rest = cell.partition("\n")
            written = _WRITTEN_CELL.fullmatch(first)
            if _SHELL_CELL.fullmatch(first):
                yield from self._shell(number, 2, rest, self._environment)
            elif written is not None:
                self._written |= {written[1]}
            elif not first.startswith("%%"):
                yield from self._lines(number, cell)

    def _lines(self, number: int, cell: str) -> Iterator[Found]:
        row = 1
        for line in re.sub(r"\\\r?\n", "\0", cell).split("\n"):
            match = _LINE.fullmatch(line.replace("\0", " "))
            if match is not None and match[2] == "%":
                yield from self._magic(number, row, match[3].strip())
            elif match is not None:
                yield from self._interpolated(number, row, match[3])
            row += 1 + line.count("\0")

    def _magic(self, number: int, row: int, line: str) -> Iterator[Found]:
        """``%cd``, ``%env`` and ``%run``; other magics start nothing."""
        name, _, rest = line.partition(" ")
        environment = _ENVIRONMENT.fullmatch(line)
        if environment is not None:
            self._environment[environment[1]] = (Argument(environment[2].strip()),)
        elif name in _FOLDER:
            world = World(folder=self._folder)
            list(launches_of(f"cd {rest}", world))
            self._folder = world.folder
        elif name == "run" and ".py" in rest:
            yield from self._interpolated(number, row, f"python {rest}")

    def _interpolated(self, number: int, row: int, line: str) -> Iterator[Found]:
        """A line for the shell, in which ``{name}`` and ``$name`` are Python's first."""
        names = {name: (Argument(value),) for name, value in self._names.items()}
        text = _IN_BRACES.sub(_as_variable, line)
        yield from self._shell(number, row, text, {**self._environment, **names})

    def _shell(
        self, number: int, row: int, text: str, variables: dict[str, tuple[Argument, ...]]
    ) -> Iterator[Found]:
        exported = frozenset(self._environment)
        world = World(dict(variables), exported, folder=self._folder, written=self._written)
        for each in launches_of(text, world):
            if each.matters:
                below = text.count("\n", 0, each.offset)
                yield Found(row + below, each.launch, each.reason, cell=number)


def _as_variable(match: re.Match[str]) -> str:
    if ".." in match[1]:  # {1..3}, which is the shell's
        return match[0]
    return f"${{{match[1]}}}" if match[1].isidentifier() else "${expression}"


def _as_python(line: str) -> str:
    """A line with something in the place of what is not Python."""
    match = _LINE.fullmatch(line)
    return line if match is None else f"{match['before']}..."


def _python_values(cells: Sequence[str]) -> dict[str, str]:
    """The names that the cells give one plain value, and no other."""
    values: dict[str, str] = {}
    bound: list[str] = []
    for cell in cells:
        try:
            tree = ast.parse("\n".join(map(_as_python, cell.split("\n"))))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            bound += re.findall(r"[A-Za-z_]\w*", cell)  # any of them may be set there
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
                values[statement.targets[0].id] = str(value)
    return {name: value for name, value in values.items() if bound.count(name) == 1}
