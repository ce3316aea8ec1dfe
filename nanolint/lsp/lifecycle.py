"""From the client's first message on: its settings, its folders, and the files it watches."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from nanolint.lsp.positions import path_of
from nanolint.lsp.server import SECTION, table

if TYPE_CHECKING:
    from nanolint.lsp.server import NanolintServer

# Whatever a judgement may have been read from.
WATCHED = (
    *("**/*.py", "**/meta.pkl"),
    *("**/requirements*.txt", "**/uv.lock", "**/poetry.lock"),
    *("**/*.yaml", "**/*.yml", "**/*.json", "**/*.toml"),
)


def register(server: NanolintServer) -> None:
    """Add them to ``server``."""

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.take_options(params.initialization_options)

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        if server.capabilities.watches_files:
            watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            registration = types.Registration(method, method, options)
            # One that cannot after all (Eglot, where git fails) tells of changes when it saves.
            with contextlib.suppress(JsonRpcException):
                await server.client_register_capability_async(
                    types.RegistrationParams([registration])
                )
        await _fetch_settings(server)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configuration_changed(params: types.DidChangeConfigurationParams) -> None:
        if server.capabilities.sends_configuration:
            await _fetch_settings(server)
        else:
            server.take_wishes(params.settings)
            server.configure({None: table(params.settings)})

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders_changed(_: types.DidChangeWorkspaceFoldersParams) -> None:
        await _fetch_settings(server)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        paths = [path for change in params.changes if (path := path_of(change.uri)) is not None]
        if server.session.files_changed(paths):
            server.refresh()


async def _fetch_settings(server: NanolintServer) -> None:
    """Ask the client for the settings of each folder of the workspace."""
    if not server.capabilities.sends_configuration:
        return
    folders = [None, *map(path_of, server.workspace.folders)]
    items = [
        types.ConfigurationItem(None if folder is None else folder.as_uri(), SECTION)
        for folder in folders
    ]
    sent = await server.workspace_configuration_async(types.ConfigurationParams(items))
    if any(each is not None for each in sent):
        server.take_wishes(*sent)
    tables = {
        folder: table(each) for folder, each in zip(folders, sent, strict=False) if each is not None
    }
    server.configure(tables)
