"""The documents of an editor: opened, changed, saved, closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from nanolint.lsp.positions import path_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.lsp.server import NanolintServer
    from nanolint.lsp.session import Document


def register(server: NanolintServer) -> None:
    """Follow the documents that the client has open."""
    session = server.session

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        path = path_of(item.uri)
        is_python = item.language_id == "python" or (path is not None and path.suffix == ".py")
        others = session.open(item.uri, path, item.text, is_python=is_python)
        _follow(server, item.uri, others)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        others = session.change(uri, server.workspace.get_text_document(uri).source)
        _follow(server, uri, others)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(_: types.DidSaveTextDocumentParams) -> None:
        # What else changed on the disk, such as a settings file, not every client tells.
        if session.look_again():
            server.refresh()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        others = session.close(uri)
        if not server.capabilities.pulls:
            server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
        _follow(server, uri, others)


def _follow(server: NanolintServer, uri: str, others: Sequence[Document]) -> None:
    """Publish what a new text changes: here at once, in the other documents a little later."""
    document = server.session.document(uri)
    if document is not None and document.is_python:
        server.publish_soon(document)
        server.read_ahead(document)
    if others:
        server.refresh_soon()
