"""Findings of a document, and code actions: fix one, silence it by a comment, all safe fixes at
once."""

from __future__ import annotations

import asyncio
from difflib import SequenceMatcher
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified

from nanolint.diagnostics import Edit, FileEdits, Safety
from nanolint.linting.suppressing import UNSILENCEABLE, add_ignores
from nanolint.lsp.diagnostics import protocol_diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nanolint.diagnostics import Diagnostic, Fix
    from nanolint.lsp.judging import Judged
    from nanolint.lsp.positions import Positions
    from nanolint.lsp.server import NanolintServer

    EditOf = Callable[[Iterable[Edit], Iterable[FileEdits]], types.WorkspaceEdit]

FIX_ALL = "source.fixAll.nanolint"
KINDS = (types.CodeActionKind.QuickFix, FIX_ALL)


def code_actions(
    judged: Judged,
    uri: str,
    positions: Positions,
    wanted: types.CodeActionParams,
    edit_of: EditOf,
) -> Iterator[types.CodeAction]:
    """What can be done about the findings that the range of ``wanted`` touches.

    ``edit_of`` makes edits of the document, and of other files, one of the workspace.
    """
    only = wanted.context.only
    if is_asked_for(types.CodeActionKind.QuickFix, only):
        first = positions.offset(wanted.range.start)
        last = positions.offset(wanted.range.end)
        touched = [
            found
            for found in judged.diagnostics
            if found.span.start <= last and first <= found.span.end
        ]
        yield from _fixes(touched, uri, positions, edit_of)
        yield from _ignores(judged, touched, uri, positions, edit_of)
    if is_asked_for(FIX_ALL, only):
        fixed = judged.fixed
        edits = changes(judged.text, fixed.text)
        others = [
            FileEdits(path, each.before, changes(each.before, each.text))
            for path, each in fixed.others.items()
        ]
        if edits or others:
            yield types.CodeAction(
                "nanolint: apply all safe fixes", kind=FIX_ALL, edit=edit_of(edits, others)
            )


def is_asked_for(kind: str, only: Sequence[str] | None) -> bool:
    """Whether the client wants this kind, or a kind above it; without a filter it wants all."""
    return only is None or any(kind == each or kind.startswith(f"{each}.") for each in only)


def _fixes(
    touched: Iterable[Diagnostic], uri: str, positions: Positions, edit_of: EditOf
) -> Iterator[types.CodeAction]:
    offered: dict[Fix, types.CodeAction] = {}
    for found in touched:
        fix = found.fix
        if fix is None or fix.safety is Safety.DISPLAY:
            continue
        diagnostic = protocol_diagnostic(found, uri, positions)
        if fix in offered:  # several cards, one fix
            action = offered[fix]
            action.diagnostics = [*(action.diagnostics or ()), diagnostic]
            continue
        safe = fix.safety is Safety.SAFE
        offered[fix] = types.CodeAction(
            title=f"{fix.title} ({found.code})" if safe else f"{fix.title} ({found.code}, unsafe)",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            is_preferred=safe,
            edit=edit_of(fix.edits, fix.elsewhere),
        )
    yield from offered.values()


def _ignores(
    judged: Judged,
    touched: Iterable[Diagnostic],
    uri: str,
    positions: Positions,
    edit_of: EditOf,
) -> Iterator[types.CodeAction]:
    by_code: dict[str, list[Diagnostic]] = {}
    for found in touched:
        if found.code not in UNSILENCEABLE:
            by_code.setdefault(found.code, []).append(found)
    for code, findings in by_code.items():
        silenced = add_ignores(judged.text, findings, judged.report.comments)
        yield types.CodeAction(
            title=f"Ignore {code} ({findings[0].name}) on this line",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[protocol_diagnostic(found, uri, positions) for found in findings],
            edit=edit_of(changes(judged.text, silenced), ()),
        )


def changes(before: str, after: str) -> tuple[Edit, ...]:
    """Edits of ``before``, in its order, that do not touch one another."""
    return tuple(_changes(before, after))


def _changes(before: str, after: str) -> Iterator[Edit]:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, first, last, new_first, new_last in matcher.get_opcodes():
        if tag != "equal":
            yield _trimmed(before, starts[first], starts[last], "".join(new[new_first:new_last]))


def _trimmed(text: str, start: int, end: int, replacement: str) -> Edit:
    """The edit without what it would put back at either end."""
    while start < end and replacement and text[start] == replacement[0]:
        start, replacement = start + 1, replacement[1:]
    while start < end and replacement and text[end - 1] == replacement[-1]:
        end, replacement = end - 1, replacement[:-1]
    return Edit(start, end, replacement)


def register(server: NanolintServer) -> None:
    """Answer the requests for findings and for what mends them."""
    session = server.session

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False),
    )
    async def pull(
        params: types.DocumentDiagnosticParams,
    ) -> types.RelatedFullDocumentDiagnosticReport:
        document = session.document(params.text_document.uri)
        if document is None or not server.capabilities.pulls:
            return types.RelatedFullDocumentDiagnosticReport([])
        return types.RelatedFullDocumentDiagnosticReport(await server.diagnostics(document))

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=list(KINDS))
    )
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        document = await server.opened(params.text_document.uri)
        judged = None if document is None else document.current
        if document is None or judged is None:
            return []
        if is_asked_for(FIX_ALL, params.context.only):
            await asyncio.to_thread(getattr, judged, "fixed")  # other texts are judged for it
            if document.current is not judged:
                raise JsonRpcContentModified("other text was typed meanwhile")
        edit_of = partial(server.edit_of, document)
        positions = server.positions(document)
        return list(code_actions(judged, document.uri, positions, params, edit_of))
