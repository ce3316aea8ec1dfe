"""What is found in a document, and the code actions that mend it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types

from nanolint.lsp.code_actions import KINDS, code_actions

if TYPE_CHECKING:
    from nanolint.lsp.server import NanolintServer


def register(server: NanolintServer) -> None:
    """Answer the requests for findings and for what mends them."""
    session = server.session

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False),
    )
    def pull(params: types.DocumentDiagnosticParams) -> types.RelatedFullDocumentDiagnosticReport:
        document = session.document(params.text_document.uri)
        found = server.diagnostics(document) if document and server.capabilities.pulls else []
        return types.RelatedFullDocumentDiagnosticReport(found)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=list(KINDS))
    )
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        document = session.document(params.text_document.uri)
        if document is None or document.judged is None:
            return []
        edit_of = partial(server.edit_of, document)
        positions = server.positions(document)
        return list(code_actions(document.judged, document.uri, positions, params, edit_of))
