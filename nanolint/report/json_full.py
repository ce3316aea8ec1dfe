"""For programs: what to do next, the findings, every run that was judged. A test pins the shape."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nanolint.diagnostics import Safety, Severity
from nanolint.linting.judged import NO_CARD
from nanolint.report.excerpt import relative
from nanolint.report.json import as_list
from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.diagnostics import Diagnostic, Edit, Fix
    from nanolint.linting.judged import JudgedRun
    from nanolint.report.printer import Printer
    from nanolint.report.results import FileResult, Results


def render(results: Results, printer: Printer) -> None:
    """Write one JSON object: ``next``, ``findings`` as in ``json``, ``runs``, one for each card."""
    runs = [_run(run, file) for file in results.files for run in file.runs]
    answer = {"next": next_step(results), "findings": as_list(results), "runs": runs}
    printer.stream.write(json.dumps(answer, indent=2) + "\n")


def _run(run: JudgedRun, file: FileResult) -> dict[str, Any]:
    return {
        "file": file.name,
        "launch": file.launch,
        "gpu": run.gpu,
        "fits": run.fits,
        "trust": run.trust,
        "doubts": list(run.doubts),
        "left_open": list(run.left_open),
        "unread": list(run.unread),
        "process_bytes": run.process_bytes,
        "usable_bytes": run.usable_bytes,
    }


RUN, TRY, EDIT, CHANGE = "run", "try", "edit", "change"
MEMORY = "NL1"  # how the codes of rules about memory begin: what fails before it comes first


def next_step(results: Results) -> dict[str, Any]:
    """One of four actions, why, and the lines to write for it.

    ``edit``: a line is wrong, and what to write is known. ``change``: something is wrong, and no
    value mends it. ``run``: it runs and fits. ``try``: whether it fits is not known, or in doubt.
    """
    unusable = next((file for file in results.files if file.error is not None), None)
    if unusable is not None:
        return _step(CHANGE, f"{unusable.name}: {unusable.error}")
    failing = [(file, each) for file in results.files for each in file.diagnostics if _fails(each)]
    if failing:
        file, found = min(failing, key=lambda pair: _is_memory(pair[1]))
        edits = _edits(file, found)
        return {**_step(EDIT if edits else CHANGE, found.line), **edits}
    runs = [run for file in results.files for run in file.runs]
    short = next((run for run in runs if run.fits is False), None)
    if short is not None:
        for file, found in ((f, e) for f in results.files for e in f.diagnostics if _is_memory(e)):
            return {**_step(TRY, f"not certain: {found.line}"), **_edits(file, found)}
        if not short.doubts:  # the rules that would say it were not asked
            return _step(CHANGE, "it does not fit")
        return _step(TRY, f"it does not fit, but not certain: {short.doubts[0]}")
    without = next((file for file in results.files if file.named and file.no_run), None)
    if without is not None and not any(run.fits for run in runs):
        return _step(TRY, f"{without.name} holds no known run: {without.no_run}")
    unknown = next((run for run in runs if run.fits is None), None)
    if unknown is not None:
        if unknown.brief is not None:
            return _step(TRY, f"no card is named: {unknown.brief.headline}")
        return _step(TRY, f"whether it fits is not known: {_reason(unknown)}")
    doubted = next((run for run in runs if run.doubts), None)
    if not runs:
        return _step(TRY, "nanolint found no run")
    needs_none = all(run.brief is not None and run.brief.outcome == NO_CARD for run in runs)
    does = NO_CARD if needs_none else "fits"
    if doubted is not None:
        return _step(TRY, f"it probably {does}, not certain: {_reason(doubted)}")
    return _step(RUN, f"it {does}{_unread(runs)}")


def _unread(runs: Iterable[JudgedRun]) -> str:
    """The first statement of a run that was not read, and how many more there are."""
    unread = next((run.unread for run in runs if run.unread), ())
    more = f", and {len(unread) - 1} more" if len(unread) > 1 else ""
    return f"; not checked whether it runs: {unread[0]}{more}" if unread else ""


def _reason(run: JudgedRun) -> str:
    """The first doubt, and what settles it."""
    return "; ".join(filter(None, (next(iter(run.doubts), ""), run.way_out))) or "no card is named"


def _edits(file: FileResult, found: Diagnostic) -> dict[str, Any]:
    """What to write, and how safe that is; nothing where that is not known."""
    if found.fix is None or found.fix.safety is Safety.DISPLAY:
        return {}
    return {"safety": found.fix.safety.value, "edits": list(_all_lines(file, found.fix))}


def _is_memory(found: Diagnostic) -> bool:
    return found.code.startswith(MEMORY)


def _fails(found: Diagnostic) -> bool:
    return found.severity is Severity.ERROR


def _step(action: str, why: str) -> dict[str, Any]:
    return {"action": action, "why": why, "safety": None, "edits": []}


def _all_lines(file: FileResult, fix: Fix) -> Iterator[dict[str, Any]]:
    yield from _lines(file.name, file.text, fix.edits)
    for other in fix.elsewhere:
        yield from _lines(relative(other.path), other.text, other.edits)


def _lines(name: str, text: str, edits: Iterable[Edit]) -> Iterator[dict[str, Any]]:
    """The lines that change, as they are and as they have to be, without their last line end."""
    lines = LineIndex(text)
    waiting = sorted(edits)
    while waiting:
        group = [waiting.pop(0)]
        first, last = lines.position(group[0].start)[0], lines.position(group[0].end)[0]
        while waiting and lines.position(waiting[0].start)[0] <= last:
            group.append(waiting.pop(0))
            last = max(last, lines.position(group[-1].end)[0])
        start = lines.offset(first, 1)
        old = text[start : lines.offset(last, lines.length(last) + 1)]
        yield {"file": name, "line": first, "old": old, "new": _edited(old, group, start)}


def _edited(old: str, edits: list[Edit], start: int) -> str:
    new, done = "", 0
    for edit in edits:
        new += old[done : edit.start - start] + edit.replacement
        done = edit.end - start
    return new + old[done:]
