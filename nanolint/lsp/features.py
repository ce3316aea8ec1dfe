"""Hover, completion, inlay hints and code lenses: what is asked, to what the engine knows."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types

from nanolint.linting import registry
from nanolint.lsp import answers
from nanolint.lsp.completion import complete
from nanolint.lsp.hover import hover
from nanolint.lsp.load import code_lenses, inlay_hints
from nanolint.lsp.model_lines import ModelLines
from nanolint.lsp.settings_file import complete_settings
from nanolint.settings.schema import FILE_NAMES
from nanolint.trainers.nanogpt.project import find_project

if TYPE_CHECKING:
    from nanolint.lsp.server import NanolintServer

TRIGGERS = ["'", '"', "=", "["]


def register(server: NanolintServer) -> None:
    """Answer the requests of an editor about an open document."""
    lines = ModelLines(server.session, server.settle)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def _hover(params: types.HoverParams) -> types.Hover | None:
        document = await server.opened(params.text_document.uri)
        if document is None:
            return None
        context = document.context
        positions = server.positions(document)
        offset = positions.offset(params.position)
        # The replays of a large model take a while, in which the user types on.
        found = None
        if context is not None:
            found = await asyncio.to_thread(hover, context, document.text, offset)
        if found is None:
            found = await lines.hover(document, offset)
        if found is None:
            return None
        return answers.hover(found, positions.range, server.client_capabilities)

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=TRIGGERS)
    )
    def _complete(params: types.CompletionParams) -> types.CompletionList | None:
        document = server.session.document(params.text_document.uri)
        if document is None:
            return None
        text, path = document.text, document.path
        positions = server.positions(document)
        offset = positions.offset(params.position)
        if path is not None and path.name in FILE_NAMES:
            found = complete_settings(path, text, offset)
        elif not document.is_python:
            return None
        else:
            rules = registry.load().rules
            found = complete(text, offset, find_project(path), rules, path=path)
        return answers.completions(found, positions.range, server.client_capabilities)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def _inlay_hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        document = await server.opened(params.text_document.uri)
        if document is None or document.context is None:
            return []
        positions = server.positions(document)
        first, last = positions.offset(params.range.start), positions.offset(params.range.end)
        found = inlay_hints(document.context, document.text)
        shown = [hint for hint in found if first <= hint.offset <= last]
        return answers.inlay_hints(shown, positions.position)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def _code_lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        document = await server.opened(params.text_document.uri)
        if document is None:
            return []
        titles = () if document.context is None else code_lenses(document.context)
        return [
            *answers.code_lenses(titles),
            *answers.line_lenses(await lines.lenses(document)),
        ]
