"""Requests about the lines of a model: answered once typing pauses, and kept for each run.

A model is shown for the config that was looked at last, else for train.py.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.linting.engine import Report, read
from nanolint.lsp.hover import Hover
from nanolint.lsp.model_lines import Chosen, hover, lenses, path_in, report_of
from nanolint.report.lines import functions_of
from nanolint.trainers.nanogpt.kind import FileKind
from nanolint.trainers.nanogpt.project import find_project
from nanolint.trainers.nanogpt.reading import read_source

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from nanolint.lsp.model_lines import Lens
    from nanolint.lsp.session import Document, Session
    from nanolint.report.lines import LineReport
    from nanolint.rule.case import Case

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
