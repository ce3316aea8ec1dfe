"""What is found in a document, and the code actions that mend it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified

from nanolint.lsp.code_actions import FIX_ALL, KINDS, code_actions, is_asked_for

if TYPE_CHECKING:
    from nanolint.lsp.server import NanolintServer


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
