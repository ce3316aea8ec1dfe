"""What each line of a model holds, for the config that would be run: its lenses and its hovers.

Requests are answered once typing pauses, and the answers are kept for each run.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from nanolint.diagnostics import Span
from nanolint.errors import Unusable
from nanolint.frozen import dataclass
from nanolint.linting.engine import Report, read
from nanolint.lsp.hover import Hover
from nanolint.lsp.markdown import code, escaped
from nanolint.report.lines import LineReport, functions_of, line_report
from nanolint.run.program import ReadScript
from nanolint.source.text import LineIndex
from nanolint.trainers.nanogpt.kind import FileKind
from nanolint.trainers.nanogpt.project import find_project
from nanolint.trainers.nanogpt.reading import read_source
from nanolint.units import listed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from nanolint.lsp.session import Document, Session
    from nanolint.rule.case import Case
    from nanolint.verdict.lines import LineMemory

LEAST_PERCENT = 1  # of the peak: a function with less has no lens
MOST_TENSORS = 4


@dataclass(frozen=True)
class Chosen:
    """The run that a model is shown for. ``path`` is the model's file as lines have it."""

    case: Case
    config: str  # how the config is called
    path: str
    text: str  # of the model


@dataclass(frozen=True, slots=True)
class Lens:
    """A title above a row; the rows count from 1."""

    row: int
    title: str


def path_in(case: Case, posix: str, text: str) -> str | None:
    """How the file at the path ``posix``, with that text, is called among those of a run."""
    if case.run is None or not case.run.on_gpu:
        return None
    program = case.run.program
    if not isinstance(program, ReadScript):
        return None
    for each in program.modules:
        if f"/{posix}".endswith(f"/{each.path}") and each.text == text:
            return each.path
    return None


def report_of(chosen: Chosen) -> LineReport | str:
    """The lines of the run, or why there are none."""
    return line_report(chosen.case)


def lenses(chosen: Chosen, found: LineReport | str) -> tuple[Lens, ...]:
    """One on top that says for which run, and one above each function that holds something."""
    if isinstance(found, str):
        return (Lens(1, f"no memory by line for {chosen.config}: {found}"),)
    peak = found.lines.peak_bytes
    on = f" on {found.card}" if found.card else ""
    top = f"memory by line for {chosen.config}{on}: {found.amount(peak)} at the peak"
    made = [Lens(1, top)]
    for each in found.functions():
        percent = 100 * each.peak_bytes // peak
        if each.path != chosen.path or max(percent, 100 * each.kept_bytes // peak) < LEAST_PERCENT:
            continue
        kept = f"keeps {found.amount(each.kept_bytes)}, " if each.kept_bytes else ""
        calls = f", {each.calls} calls" if each.calls > 1 else ""
        made.append(Lens(each.function.row, f"{kept}{percent} % of the peak{calls}"))
    return tuple(made)


def hover(chosen: Chosen, found: LineReport | str, offset: int) -> tuple[Span, str] | None:
    """What the line at ``offset`` holds, in Markdown, and where it stands."""
    if isinstance(found, str):
        return None
    index = LineIndex(chosen.text)
    row = index.position(offset)[0]
    line = next(
        (each for each in found.lines.lines if each.line == (chosen.path, row)),
        None,
    )
    if line is None:
        return None
    source = index.line(row)
    start = index.offset(row, 1) + len(source) - len(source.lstrip())
    return Span(start, start + len(source.strip())), _markdown(line, chosen, found)


def _markdown(line: LineMemory, chosen: Chosen, found: LineReport) -> str:
    peak = found.lines.peak_bytes
    percent = 100 * line.peak_bytes / peak
    calls = f" in {line.calls} calls" if line.calls > 1 else ""
    parts = []
    if line.kept_bytes:
        parts.append(f"keeps **{found.amount(line.kept_bytes)}** for the backward pass{calls}")
    at = found.amount(line.peak_bytes) or "nothing"
    parts.append(f"at the peak: {at}, {percent:.0f} % of {found.amount(peak)}")
    parts += [
        f"{code(each.name)}: {found.amount(each.nbytes)}"
        + (f", {each.times} times" if each.times > 1 else "")
        for each in line.tensors[:MOST_TENSORS]
    ]
    if line.waste:
        parts.append(f"**{escaped(listed([word.value for word in line.waste]))}**")
    on = f" on {found.card}" if found.card else ""
    parts.append(f"for {escaped(chosen.config + on)}")
    if found.about:
        parts.append(f"not certain: {escaped(str(chosen.case.resolution.doubts[0]))}")
    return "\n".join(f"- {part}" for part in parts)


PAUSE_S = 0.3  # after a change, in which a newer text takes the place of this one
MOST_KEPT = 8  # answers


class ModelLines:
    """The answers. One text and run is worked out once, beside what else the server does."""

    def __init__(self, session: Session, settle: Callable[[], Awaitable[None]]) -> None:
        self._session = session
        self._settle = settle
        self._kept: dict[object, LineReport | str] = {}
        self._last: dict[str, tuple[Lens, ...]] = {}

    async def lenses(self, document: Document) -> tuple[Lens, ...]:
        """Those of the text as it stands when typing pauses; the last ones while it goes on."""
        if not self._session.shows_lines or document.path is None or not document.is_python:
            return ()
        context = document.context
        if context is not None and context.kind in (FileKind.CONFIG, FileKind.TRAIN_SCRIPT):
            return ()
        if not await _is_still(document):
            return self._last.get(document.uri, ())
        chosen = await self._chosen(document)
        if chosen is None:  # half typed, or no run's model
            return () if functions_of(document.text) else self._last.get(document.uri, ())
        found = lenses(chosen, await self._report(chosen))
        self._last[document.uri] = found
        return found

    async def hover(self, document: Document, offset: int) -> Hover | None:
        """What the line at ``offset`` holds; None where it holds nothing, or that is not known."""
        if not self._session.shows_lines:
            return None
        chosen = await self._chosen(document)
        if chosen is None:
            return None
        found = hover(chosen, await self._report(chosen), offset)
        return None if found is None else Hover(*found)

    async def _chosen(self, document: Document) -> Chosen | None:
        await self._settle()
        return await asyncio.to_thread(chosen_run, self._session, document)

    async def _report(self, chosen: Chosen) -> LineReport | str:
        case = chosen.case
        key = chosen.text, case.run, case.target, case.resolution.doubts
        if key not in self._kept:
            found = await asyncio.to_thread(report_of, chosen)
            if len(self._kept) >= MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = found
        return self._kept[key]


async def _is_still(document: Document) -> bool:
    """Whether nothing is typed for a moment."""
    text = document.text
    await asyncio.sleep(PAUSE_S)
    return document.text == text


def chosen_run(session: Session, document: Document) -> Chosen | None:
    """The run for which the lines of ``document`` are told; None where it is no run's model."""
    if document.path is None or not document.is_python:
        return None
    posix = document.path.absolute().as_posix()
    for name, cases in _candidates(session, document):
        for case in cases:
            path = path_in(case, posix, document.text)
            if path is not None:
                return Chosen(case, name, path, document.text)
    return None


def _candidates(session: Session, document: Document) -> Iterable[tuple[str, Iterable[Case]]]:
    """Open configs, the one that was touched last first; then the script's own defaults."""
    for each in sorted(session.documents, key=lambda one: -one.touched):
        context = each.context if each.is_python else None
        if context is not None and each.path is not None and context.kind is not FileKind.SCRIPT:
            yield each.path.name, context.cases
    if document.path is None:
        return
    script = find_project(document.path).train_script
    plan = session.plan_for(script) if script is not None else None
    if script is None or plan is None:
        return
    try:
        found = read(read_source(script), script, plan.setup(script))
    except Unusable:
        return
    if not isinstance(found, Report):
        yield f"{script.name} (no config is open)", found.cases
