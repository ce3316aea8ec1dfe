"""The memory of a run by the lines of its model, with their texts: what all that show it share."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.frozen import dataclass
from nanolint.run.program import ReadScript
from nanolint.source.python import new_tree
from nanolint.source.text import LineIndex
from nanolint.verdict.lines import lines_of, located_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nanolint.rule.case import Case
    from nanolint.tape.locating import Line, Where
    from nanolint.tape.tape import Handle
    from nanolint.verdict.lines import Lines


class Function(NamedTuple):
    """A function of a text, by the rows of its first and last line; ``row`` has its ``def``.

    ``owner`` is the row of its class, 0 without one.
    """

    name: str  # "Block.forward"
    first: int
    row: int
    last: int
    owner: int


class FunctionMemory(NamedTuple):
    """What a function makes, with all that it calls."""

    path: str
    function: Function
    kept_bytes: int
    peak_bytes: int
    calls: int


@dataclass(frozen=True)
class LineReport:
    """The lines of one case. ``texts`` are the files of the project, by the paths of the lines.

    ``about``: the run is in doubt, and so is each number.
    """

    lines: Lines
    texts: Mapping[str, str]
    card: str | None
    compiled: bool
    about: bool

    def text(self, line: Line) -> str:
        """What is written there."""
        return _row(self.texts, line)

    def amount(self, nbytes: int) -> str:
        """Bytes as they are shown: ``774 MiB``, ``~1.54 GiB``; nothing for none."""
        return amount(nbytes, about=self.about)

    def functions(self) -> tuple[FunctionMemory, ...]:
        """The functions that make anything, those that hold most first."""
        found = []
        for path, text in self.texts.items():
            for function in functions_of(text):
                made = [
                    each
                    for each in self.lines.shares
                    if any(
                        line.path == path and function.first <= line.number <= function.last
                        for line in each.stack
                    )
                ]
                if made:
                    kept = sum(each.kept_bytes for each in made)
                    peak = sum(each.peak_bytes for each in made)
                    calls = max(each.calls for each in made)
                    found.append(FunctionMemory(path, function, kept, peak, calls))
        return tuple(sorted(found, key=lambda each: (-each.peak_bytes, -each.kept_bytes)))


class Places(NamedTuple):
    """The place of each allocation of a case, and the texts of their files."""

    wheres: Sequence[Where | None]
    texts: Mapping[str, str]

    def stack(self, handle: Handle) -> list[tuple[Line, str]]:
        """The lines that made an allocation, the innermost first, with their functions."""
        where = self.wheres[handle]
        return [] if where is None else [(line, self._function(line)) for line in where.stack]

    def _function(self, line: Line) -> str:
        functions = functions_of(self.texts.get(line.path, ""))
        around = (each.name for each in functions if each.first <= line.number <= each.last)
        return next(around, "<module>")

    def told(self, handle: Handle) -> str:
        """The innermost line as words: ``model.py:57 x = self.c_fc(x)``; empty where none is."""
        where = self.wheres[handle]
        if where is None:
            return ""
        line = where.stack[0]
        return f"{line.path}:{line.number} {_row(self.texts, line).strip()}".rstrip()


def places_of(case: Case) -> Places | None:
    """The places of all that a case allocates; None where they are not known."""
    assert case.run is not None  # who asks has looked
    found = located_run(case.run, case.target.gpu if case.target else None)
    return None if isinstance(found, str) else Places(found.wheres, _texts(case))


def line_report(case: Case) -> LineReport | str:
    """The lines of a case whose run is known, or why there are none."""
    run, resolution = case.run, case.resolution
    assert run is not None  # who asks has looked
    lines = lines_of(run, case.target.gpu if case.target else None)
    if isinstance(lines, str):
        return lines
    card = case.target.label if case.target else None
    doubted = bool(resolution.doubts)
    return LineReport(lines, _texts(case), card, run.compile, doubted)


def _texts(case: Case) -> Mapping[str, str]:
    program = case.run.program if case.run is not None else None
    if not isinstance(program, ReadScript):
        return {}
    return {each.path: each.text for each in program.modules}


def _row(texts: Mapping[str, str], line: Line) -> str:
    index = _index(texts.get(line.path, ""))
    return index.line(line.number) if 0 < line.number <= index.last_row else ""


def amount(nbytes: int, *, about: bool = False) -> str:
    """Bytes in three digits: ``774 MiB``, ``1.54 GiB``; ``~`` before what is in doubt."""
    if not nbytes:
        return ""
    size, unit = next(
        ((nbytes / scale, name) for scale, name in _SCALES if nbytes >= scale), (nbytes, "bytes")
    )
    digits = 0 if size >= 100 or unit == "bytes" else 1 if size >= 10 else 2
    return f"{'~' * about}{size:.{digits}f} {unit}"


_SCALES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


@lru_cache(maxsize=16)
def functions_of(text: str) -> tuple[Function, ...]:
    """The functions of a text, methods by the names of their classes; none of what is no Python."""
    try:
        tree = new_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(_functions(tree.body, "", 0))


def _functions(body: Iterable[ast.stmt], owner: str, row: int) -> Iterable[Function]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{owner}{node.name}.", node.lineno)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min((each.lineno for each in node.decorator_list), default=node.lineno)
            last = node.end_lineno or first
            yield Function(f"{owner}{node.name}", first, node.lineno, last, row)


def _index(text: str) -> LineIndex:
    return LineIndex(text)


def as_json(name: str, case: Case, found: LineReport | str) -> dict[str, Any]:
    """The object that ``explain --lines --format json`` prints."""
    resolution = case.resolution
    head = {
        "file": name,
        "gpu": case.target.label if case.target else None,
        "trust": resolution.trust,
        "doubts": [str(doubt) for doubt in resolution.doubts],
    }
    if isinstance(found, str):
        return head | {"lines": None, "reason": found}
    lines = found.lines
    return head | {
        "peak": {"allocated_bytes": lines.peak_bytes, "phase": lines.phase.value},
        "kept_bytes": lines.kept_bytes,
        "lines": [
            {
                "file": each.line.path,
                "line": each.line.number,
                "text": found.text(each.line).strip(),
                "kept_bytes": each.kept_bytes,
                "peak_bytes": each.peak_bytes,
                "calls": each.calls,
                "waste": [word.value for word in each.waste],
                "tensors": [
                    {"name": kept.name, "bytes": kept.nbytes, "times": kept.times}
                    for kept in each.tensors
                ],
            }
            for each in lines.lines
        ],
        "functions": [
            {
                "file": each.path,
                "name": each.function.name,
                "line": each.function.row,
                "kept_bytes": each.kept_bytes,
                "peak_bytes": each.peak_bytes,
                "calls": each.calls,
            }
            for each in found.functions()
        ],
        "elsewhere": {component.value: nbytes for component, nbytes in lines.elsewhere},
        "kept_elsewhere_bytes": lines.kept_elsewhere,
        "reason": None,
    }
