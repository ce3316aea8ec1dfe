"""``nanolint server``: the language server, on standard input and output.

It takes the settings that an editor sends, under the names of a settings file, and answers whatever
is asked, which the protocol demands and pygls does not do.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcServerNotInitialized
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.protocol.json_rpc import RPCMessage, RPCRequest

from nanolint import __version__
from nanolint.lsp.diagnostics import protocol_diagnostic
from nanolint.lsp.judgements import Judgements
from nanolint.lsp.positions import Positions
from nanolint.lsp.prefetch import Ahead, tidy_up
from nanolint.lsp.session import Session
from nanolint.recording import kept
from nanolint.settings.tables import KEYS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from pathlib import Path

    from nanolint.diagnostics import Edit, FileEdits
    from nanolint.lsp.judging import Judged
    from nanolint.lsp.session import Document

# How long the document that is typed in waits for the next keystroke, and the others that depend
# on it, in seconds; and after how long nobody is taken to type.
PAUSE, LONG_PAUSE, QUIET = 0.002, 0.3, 0.3
BREATH = 0.03  # in which an editor asks for more behind the findings


class NanolintServer(LanguageServer):
    """The session, and what the client is told of it.

    Documents are sent whole (the kind Full): a config is a page of text, and nothing can drift.
    """

    def __init__(self) -> None:
        super().__init__(
            "nanolint",
            __version__,
            protocol_cls=StrictProtocol,
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
        )
        self.session = Session(os.environ, self._tell)
        self._judgements = Judgements(self.session)
        self._tasks: dict[str, asyncio.Future[None]] = {}
        self._options: Mapping[str, Any] = {}
        self._ahead, self._reads_ahead = Ahead(), True

    @property
    def capabilities(self) -> ClientCapabilities:
        """What the client can do."""
        return ClientCapabilities(self.client_capabilities)

    def positions(self, document: Document) -> Positions:
        """The places of a document, as client and server agreed to count them."""
        return self._positions(document.text)

    def _positions(self, text: str) -> Positions:
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        return Positions(text, encoding)

    async def settle(self) -> None:
        """Return once all that is open is judged as it stands then."""
        for each in self.session.documents:
            await self._judgements.settle(each)

    async def judged(self, document: Document) -> Judged | None:
        """The outcome for a document as it stands then; meanwhile others are served, and whatever
        is typed is taken."""
        await self._judgements.settle(document)
        self._later("go on", BREATH, self._go_on)
        return document.current

    async def _go_on(self) -> None:
        if all(each.is_judged for each in self.session.documents):
            self._ahead.go_on()

    async def opened(self, uri: str) -> Document | None:
        """A document that is open, once it is judged; None for another one."""
        document = self.session.document(uri)
        if document is not None:
            await self.judged(document)
        return document

    async def diagnostics(self, document: Document) -> list[types.Diagnostic]:
        """What is found in a document."""
        judged = await self.judged(document)
        if judged is None:
            return []
        positions = self.positions(document)
        return [protocol_diagnostic(found, document.uri, positions) for found in judged.diagnostics]

    def publish_soon(self, document: Document) -> None:
        """Publish after a pause, in which a newer text takes the place of this one."""
        self._later(document.uri, PAUSE, partial(self._publish, document))

    def read_ahead(self, document: Document) -> None:
        """Once nothing was typed for a while, read what is likely to be typed in a document; until
        then go on with what was likely before, while nobody waits for an answer."""
        self._ahead.rest()
        self._later("ahead", QUIET, partial(self._begin, document))

    async def _begin(self, document: Document) -> None:
        await self.judged(document)
        kept.keep_waiting()
        tidy_up()
        if not self._reads_ahead or self.session.document(document.uri) is not document:
            return
        context, plan = document.context, self.session.plan_for(document.path)
        if context is not None and plan is not None:
            self._ahead.begin(context, plan, document.typed)

    def shutdown(self) -> None:
        """Stop serving, once what is read ahead has ended."""
        self._ahead.end()
        kept.keep_waiting()
        super().shutdown()  # type: ignore[no-untyped-call]

    def refresh_soon(self) -> None:
        """Refresh after a pause in which there is no other cause to."""
        self._later("", LONG_PAUSE, self._refresh)

    def refresh(self) -> None:
        """Tell the client of everything that is open as it looks now."""
        self._later("", 0, self._refresh)

    async def _refresh(self) -> None:
        if self.capabilities.pulls:
            self.workspace_diagnostic_refresh(None)
        if self.capabilities.refresh_inlay_hints:
            self.workspace_inlay_hint_refresh(None)
        if self.capabilities.refresh_code_lenses:
            self.workspace_code_lens_refresh(None)
        for each in self.session.documents:
            if each.is_python:
                await self._publish(each)

    def edit_of(
        self, document: Document, edits: Iterable[Edit], elsewhere: Iterable[FileEdits] = ()
    ) -> types.WorkspaceEdit:
        """Edits of a document in the state that the client sent last, and of other files."""
        changes = {document.uri: _text_edits(self.positions(document), edits)}
        opened = {each.path: each.uri for each in self.session.documents if each.path}
        for file in elsewhere:
            uri = opened.get(file.path) or file.path.absolute().as_uri()
            changes[uri] = _text_edits(self._positions(file.text), file.edits)
        changes = {uri: each for uri, each in changes.items() if each}
        if not self.capabilities.versioned_edits:
            return types.WorkspaceEdit(changes=changes)
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(uri, self._version(uri)),
                    list(each),
                )
                for uri, each in changes.items()
            ]
        )

    def _version(self, uri: str) -> int | None:
        """Which text of a document the client sent last, None for one that is not open."""
        if self.session.document(uri) is None:
            return None
        return self.workspace.get_text_document(uri).version

    def configure(self, tables: Mapping[Path | None, Mapping[str, Any]]) -> None:
        """Take the client's settings, those from its start where it sent no others."""
        self.session.configure({None: self._options, **tables})
        self.refresh()

    def take_options(self, sent: object) -> None:
        """Take the settings that the client starts with."""
        self._options = table(sent)
        self.take_wishes(sent)
        self.session.configure({None: self._options})

    def take_wishes(self, *sent: object) -> None:
        """Take what the client wants of the server, each where no settings say not."""
        self.session.shows_lines = all(wants(LINES, each) for each in sent)
        self._reads_ahead = all(wants(AHEAD, each) for each in sent)

    def _later(self, what: str, pause: float, act: Callable[[], Awaitable[None]]) -> None:
        """Act after a pause, in place of what was to be done, or is being done, under that name."""

        async def later() -> None:
            await asyncio.sleep(pause)
            await act()

        before = self._tasks.get(what)
        if before is not None:
            before.cancel()
        self._tasks[what] = asyncio.ensure_future(later())

    async def _publish(self, document: Document) -> None:
        if self.capabilities.pulls:
            return
        found = await self.diagnostics(document)
        if self.session.document(document.uri) is document:
            version = self.workspace.get_text_document(document.uri).version
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(document.uri, found, version)
            )

    def _tell(self, line: str) -> None:
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, line))


class ClientCapabilities:
    """What a client says that it can do."""

    def __init__(self, client: types.ClientCapabilities) -> None:
        text = client.text_document
        workspace = client.workspace
        edit = workspace and workspace.workspace_edit
        watching = workspace and workspace.did_change_watched_files
        # A client that cannot be told to pull again would not learn what a change elsewhere means
        # (Neovim 0.11 is one): it is published to, if it takes that, and pulls nothing.
        is_told = _refreshes(workspace and workspace.diagnostics)
        takes_published = bool(text and text.publish_diagnostics)
        self.pulls = bool(text and text.diagnostic) and (is_told or not takes_published)
        self.versioned_edits = bool(edit and edit.document_changes)
        self.sends_configuration = bool(workspace and workspace.configuration)
        self.watches_files = bool(watching and watching.dynamic_registration)
        self.refresh_inlay_hints = _refreshes(workspace and workspace.inlay_hint)
        self.refresh_code_lenses = _refreshes(workspace and workspace.code_lens)


def _text_edits(positions: Positions, edits: Iterable[Edit]) -> list[types.TextEdit]:
    return [types.TextEdit(positions.range(edit), edit.replacement) for edit in edits]


def _refreshes(support: Any) -> bool:
    return bool(support and support.refresh_support)


SECTION = "nanolint"


# The client's alone, both on unless it says not.
LINES = "lines"  # whether lenses and hovers show what the lines of a model hold
AHEAD = "readAhead"  # whether runs are read that are likely to be typed next


def wants(key: str, sent: object) -> bool:
    """Whether the client wants ``LINES`` or ``AHEAD``, by the settings that it sent."""
    if not isinstance(sent, Mapping):
        return True
    inner = sent.get(SECTION)
    if isinstance(inner, Mapping):
        return wants(key, inner)
    return sent.get(key) is not False


def table(sent: object) -> dict[str, Any]:
    """What of ``sent`` nanolint has a setting for.

    The client's own settings stand among them, and an unset one is null or empty: an editor shows
    every setting that its extension declares, and sends them all.
    """
    if not isinstance(sent, Mapping):
        return {}
    inner = sent.get(SECTION)
    if isinstance(inner, Mapping):
        return table(inner)
    return {key: sent[key] for key in KEYS if key in sent and sent[key] not in (None, "", [], {})}


class Answered:
    """Stands for a message that is dealt with: no version of the protocol is its own."""

    jsonrpc = ""


class StrictProtocol(LanguageServerProtocol):
    """pygls's, which is silent where a request cannot be read or comes too early or too late."""

    left_early = False  # the client said exit without shutdown before

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message as an object; a request whose parameters are wrong gets its answer here."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" not in data or "id" not in data:
                raise
            self._send_response(data["id"], error=error.to_response_error())
            return Answered()

    def handle_message(self, message: RPCMessage) -> None:
        """Take one message, if it is time for it."""
        method = getattr(message, "method", None)
        if method == types.EXIT:
            self.left_early = not self._shutdown
        elif method is not None and self._shutdown:
            self._refuse(message, JsonRpcInvalidRequest("the server is shutting down"))
            return
        elif method not in (None, types.INITIALIZE) and self._workspace is None:
            self._refuse(message, JsonRpcServerNotInitialized("initialize comes first"))
            return
        super().handle_message(message)

    def _refuse(self, message: RPCMessage, error: JsonRpcException) -> None:
        """Answer a request with an error; what is no request is not answered."""
        if isinstance(message, RPCRequest):
            self._send_response(message.id, error=error.to_response_error())

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *_: object) -> None:  # type: ignore[override]
        """Cancel what is under way, each of which takes itself from the list as it ends."""
        current = self.msg_id
        for number, future in list(self._request_futures.items()):
            if number != current and not future.done():
                future.cancel()
        self._shutdown = True
