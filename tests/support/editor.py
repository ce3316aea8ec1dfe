"""An editor for tests: talks to the real server process, and notes what the server asks of it."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInternalError
from pytest_lsp import LanguageClient, make_test_lsp_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

PATIENCE = 120.0  # seconds on the clock; only a broken server needs them, or a busy machine
UTF16 = types.PositionEncodingKind.Utf16


class Editor:
    """Documents that are open, and the requests that an editor makes about them.

    ``asked`` are the methods that the server called on its own, ``edits`` what it wanted applied,
    ``questions`` what it asked the user. ``answer`` chooses the button that is then pressed.
    """

    def __init__(self, client: LanguageClient, root: Path) -> None:
        self.client = client
        self.root = root
        self.asked: list[str] = []
        self.edits: list[types.WorkspaceEdit] = []
        self.questions: list[types.ShowMessageRequestParams] = []
        self.answer: Callable[[types.ShowMessageRequestParams], str | None] = lambda _: None
        self.applies = True
        self.registers = True
        self._versions: dict[str, int] = {}
        self._listen()

    @property
    def shown(self) -> list[str]:
        """What the server told the user."""
        return [message.message for message in self.client.messages]

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    async def turn_to(self, root: Path) -> None:
        """Forget everything, as a new user would who opens the folder ``root``."""
        for uri in self._versions:
            document = types.TextDocumentIdentifier(uri)
            self.client.text_document_did_close(types.DidCloseTextDocumentParams(document))
        await self.run("nanolint.selectTarget", None)
        self.root, self._versions = root, {}
        self.answer, self.applies = (lambda _: None), True
        for seen in (self.asked, self.edits, self.questions, self.client.messages):
            seen.clear()

    def open(self, name: str, text: str | None = None) -> str:
        """Open the file, with other content than on the disk if ``text`` is given."""
        path, uri = self.root / name, self.uri(name)
        language = "toml" if path.suffix == ".toml" else "python"
        content = path.read_bytes().decode() if text is None else text
        item = types.TextDocumentItem(uri, language, 1, content)
        self._versions[uri] = 1
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def type(self, name: str, text: str) -> None:
        """Replace the whole content of an open document."""
        uri = self.uri(name)
        self._versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def save_elsewhere(self, name: str, content: str) -> None:
        """Write a file that is not open, and say so as an editor that watches files does."""
        path = self.root / name
        kind = types.FileChangeType.Changed if path.exists() else types.FileChangeType.Created
        path.write_text(content)
        event = types.FileEvent(path.as_uri(), kind)
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

    async def hover(self, name: str, line: int, character: int) -> types.Hover | None:
        place = types.Position(line, character)
        return await self.client.text_document_hover_async(
            types.HoverParams(self._document(name), place)
        )

    async def complete(self, name: str, line: int, character: int) -> list[types.CompletionItem]:
        place = types.Position(line, character)
        found = await self.client.text_document_completion_async(
            types.CompletionParams(self._document(name), place)
        )
        items = found.items if isinstance(found, types.CompletionList) else found
        return list(items or ())

    async def lenses(self, name: str) -> list[str]:
        found = await self.client.text_document_code_lens_async(
            types.CodeLensParams(self._document(name))
        )
        return [lens.command.title for lens in found or () if lens.command]

    async def hints(self, name: str, last_line: int = 1000) -> list[types.InlayHint]:
        everything = types.Range(types.Position(0, 0), types.Position(last_line, 0))
        found = await self.client.text_document_inlay_hint_async(
            types.InlayHintParams(self._document(name), everything)
        )
        return list(found or ())

    async def run(self, command: str, *arguments: Any) -> Any:
        params = types.ExecuteCommandParams(command, list(arguments))
        return await self.client.workspace_execute_command_async(params)

    async def until(self, what: Callable[[], bool]) -> None:
        """Wait for something that the server does on its own."""

        async def poll() -> None:
            while not what():
                await asyncio.sleep(0.01)

        await asyncio.wait_for(poll(), PATIENCE)

    def _document(self, name: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(name))

    def _listen(self) -> None:
        client = self.client

        @client.feature(types.WORKSPACE_CODE_LENS_REFRESH)  # type: ignore[untyped-decorator]
        def code_lens_refresh(_: None) -> None:
            self.asked.append(types.WORKSPACE_CODE_LENS_REFRESH)

        @client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)  # type: ignore[untyped-decorator]
        def inlay_hint_refresh(_: None) -> None:
            self.asked.append(types.WORKSPACE_INLAY_HINT_REFRESH)

        @client.feature(types.CLIENT_REGISTER_CAPABILITY)  # type: ignore[untyped-decorator]
        def register(_: types.RegistrationParams) -> None:
            self.asked.append(types.CLIENT_REGISTER_CAPABILITY)
            if not self.registers:
                raise JsonRpcInternalError("this editor cannot watch files")

        @client.feature(types.WORKSPACE_APPLY_EDIT)  # type: ignore[untyped-decorator]
        def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            self.edits.append(params.edit)
            return types.ApplyWorkspaceEditResult(applied=self.applies)

        @client.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)  # type: ignore[untyped-decorator]
        def ask(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
            self.questions.append(params)
            title = self.answer(params)
            return None if title is None else types.MessageActionItem(title)


def capabilities(
    *, encodings: tuple[types.PositionEncodingKind, ...] = (UTF16,), plain: bool = False
) -> types.ClientCapabilities:
    """What a modern editor can do; ``plain``: one that shows plain text and knows no snippets."""
    formats = [types.MarkupKind.PlainText]
    if not plain:
        formats.insert(0, types.MarkupKind.Markdown)
    item = types.ClientCompletionItemOptions(
        snippet_support=not plain,
        documentation_format=formats,
        label_details_support=not plain,
    )
    return types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=list(encodings)),
        text_document=types.TextDocumentClientCapabilities(
            hover=types.HoverClientCapabilities(content_format=formats),
            completion=types.CompletionClientCapabilities(completion_item=item),
            inlay_hint=types.InlayHintClientCapabilities(),
            code_lens=types.CodeLensClientCapabilities(),
        ),
        window=types.WindowClientCapabilities(
            show_message=types.ShowMessageRequestClientCapabilities()
        ),
        workspace=types.WorkspaceClientCapabilities(
            apply_edit=True,
            workspace_edit=types.WorkspaceEditClientCapabilities(
                document_changes=True,
                resource_operations=[types.ResourceOperationKind.Create],
            ),
            code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
            inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True),
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(
                dynamic_registration=True
            ),
        ),
    )


@asynccontextmanager
async def editing(
    root: Path,
    *,
    client_capabilities: types.ClientCapabilities | None = None,
    options: dict[str, Any] | None = None,
    folders: tuple[Path, ...] = (),
    configuration: dict[str, Any] | None = None,
    registers: bool = True,
) -> AsyncIterator[Editor]:
    """An editor on the folder ``root``, whose server has no card but those that are named.

    ``folders`` are those of the workspace, if it has several; ``configuration`` are the settings
    that the editor has for each. One that does not register fails to watch files.
    """
    client = make_test_lsp_client()
    editor = Editor(client, root)
    editor.registers = registers
    for uri, settings in (configuration or {}).items():
        client.set_configuration({"nanolint": settings}, scope_uri=uri)
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("NANOLINT_GPU", None)
    await client.start_io(sys.executable, "-m", "nanolint", "server", env=environment)
    try:
        await client.initialize_session(
            types.InitializeParams(
                capabilities=client_capabilities or capabilities(),
                initialization_options=options,
                root_uri=root.as_uri(),
                workspace_folders=[
                    types.WorkspaceFolder(folder.as_uri(), folder.name)
                    for folder in folders or (root,)
                ],
            )
        )
        yield editor
        await client.shutdown_session()
    except BaseException:
        if client._server is not None:
            client._server.kill()  # nobody told it to leave, and stop() waits until it has
        raise
    finally:
        await client.stop()  # type: ignore[no-untyped-call]
