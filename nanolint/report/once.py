"""What is the same all over a project, shown once, with the other places that have it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.rule import Once
from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.diagnostics import Diagnostic
    from nanolint.report.results import FileResult, Results

MOST_PLACES = 5  # that are named beside the first
TRAIN_SCRIPT = "train.py"  # the place that people look at first


def without_copies(results: Results) -> Results:
    """``results`` where a file that several runs share has each of its findings once.

    A launch line that depends on a variable starts a run for each of its values.
    """
    seen: set[tuple[object, ...]] = set()
    files = []
    for file in results.files:
        left = []
        for found in file.diagnostics:
            key = (file.name, found.code, found.span, found.lines, found.gpu, found.fix)
            if key not in seen:
                seen.add(key)
                left.append(found)
        files.append(replace(file, diagnostics=tuple(left)))
    return replace(results, files=files)


def once_per_project(results: Results, codes: Mapping[str, Once]) -> Results:
    """``results`` where of each project the findings of ``codes`` that are the same are left once.

    That is the first in its train.py, if it has any. A note on it names the others.
    """
    places: dict[tuple[str, str, str], list[tuple[int, int]]] = defaultdict(list)
    for index, file in enumerate(results.files):
        for number, found in enumerate(file.diagnostics):
            if found.code in codes:
                project = file.project or str(Path(file.name).parent)
                said = found.line if codes[found.code] is Once.MESSAGE else ""
                places[project, found.code, said].append((index, number))
    kept: dict[tuple[int, int], tuple[str, ...]] = {}
    folded: set[tuple[int, int]] = set()
    for same in places.values():
        same.sort(key=lambda place: Path(results.files[place[0]].name).name != TRAIN_SCRIPT)
        first, *others = same
        kept[first] = tuple(_place(results.files[index], number) for index, number in others)
        folded.update(others)
    if not folded:
        return results
    files = []
    for index, file in enumerate(results.files):
        left = tuple(
            _noted(found, kept.get((index, number), ()))
            for number, found in enumerate(file.diagnostics)
            if (index, number) not in folded
        )
        files.append(replace(file, diagnostics=left))
    return replace(results, files=files)


def _place(file: FileResult, number: int) -> str:
    start = file.diagnostics[number].span.start
    return f"{file.name}:{LineIndex(file.text).position(start)[0]}"


def _noted(found: Diagnostic, others: tuple[str, ...]) -> Diagnostic:
    if not others:
        return found
    left = len(others) - MOST_PLACES
    more = f" and {left} more places" if left > 1 else f" and {others[-1]}" if left == 1 else ""
    note = f"also in {', '.join(others[:MOST_PLACES])}{more}"
    return replace(found, notes=(*found.notes, note))
