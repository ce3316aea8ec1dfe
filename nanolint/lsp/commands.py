"""Commands: list the cards, and judge by another one, for the session or as the settings say."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from nanolint.errors import UserError
from nanolint.files.door import forget
from nanolint.lsp import answers
from nanolint.lsp.choosing import (
    LIST_GPUS,
    SELECT_TARGET,
    SETTINGS_DECIDE,
    USUAL,
    Choice,
    NoChoice,
    choice,
    listed,
)
from nanolint.lsp.server import NanolintServer  # noqa: TC001 (pygls reads the annotations)
from nanolint.lsp.session import EDITOR
from nanolint.lsp.settings_file import settings_edit
from nanolint.settings.targets import VARIABLE
from nanolint.trainers.nanogpt.kind import FileKind

if TYPE_CHECKING:
    from pathlib import Path

QUESTION = "The GPU that configs are checked for"
FOR_THE_SESSION, FOR_GOOD = "Only for this session", "Write it into the settings"


def register(server: NanolintServer) -> None:
    """Offer the commands."""

    @server.command(LIST_GPUS)
    def list_gpus(*_: Any) -> list[dict[str, Any]]:
        return [asdict(gpu) for gpu in listed()]

    @server.command(SELECT_TARGET)
    async def select_target(ls: NanolintServer, *arguments: Any) -> None:
        try:
            chosen = choice(arguments) or await _ask(ls)
            if chosen is not None and chosen.in_settings:
                await _write(ls, chosen)
            elif chosen is not None:
                ls.session.set_target(chosen.gpu)
                ls.refresh()
        except UserError as error:
            ls.window_show_message(
                types.ShowMessageParams(types.MessageType.Error, f"nanolint: {error}")
            )


async def _ask(server: NanolintServer) -> Choice | None:
    """What the user presses; None where the question is closed."""
    gpu = await _pressed(server, QUESTION, (*USUAL, SETTINGS_DECIDE))
    if gpu is None or gpu == SETTINGS_DECIDE:
        return None if gpu is None else Choice(None)
    kept = await _pressed(server, f"Check configs for {gpu}", (FOR_THE_SESSION, FOR_GOOD))
    return Choice(gpu, in_settings=kept == FOR_GOOD)


async def _pressed(server: NanolintServer, question: str, answers: tuple[str, ...]) -> str | None:
    params = types.ShowMessageRequestParams(
        types.MessageType.Info, question, [types.MessageActionItem(title) for title in answers]
    )
    pressed = await server.window_show_message_request_async(params)
    return None if pressed is None else pressed.title


async def _write(server: NanolintServer, chosen: Choice) -> None:
    """Ask the editor to change the settings of the config that is meant."""
    config = await _config(server, chosen.uri)
    if config is None or chosen.gpu is None:
        raise NoChoice("open a config first: its settings are the ones to change")
    found = settings_edit(config, chosen.gpu)
    file = _identifier(server, found.path)
    encoding = server.workspace.position_encoding or types.PositionEncodingKind.Utf16
    edit = answers.workspace_edit(found, file, encoding, server.client_capabilities)
    result = await server.workspace_apply_edit_async(
        types.ApplyWorkspaceEditParams(edit, label=f"nanolint: check for {chosen.gpu}")
    )
    if not result.applied:
        raise NoChoice(f"{found.path.name} was not changed: {result.failure_reason or 'refused'}")
    forget(found.path)
    server.session.set_target(None)
    server.refresh()
    plan = server.session.plan_for(config)
    if plan is not None and plan.chosen.origin in (EDITOR, VARIABLE):
        message = f"nanolint: {found.path.name} is changed, but {plan.chosen.origin} decides"
        server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))


async def _config(server: NanolintServer, uri: str | None) -> Path | None:
    """The config whose settings are meant; without ``uri`` any that is open."""
    await server.settle()
    for each in [uri] if uri else server.workspace.text_documents:
        document = server.session.document(each)
        context = None if document is None else document.context
        if context is not None and context.kind is not FileKind.SCRIPT:
            return context.path
    return None


def _identifier(
    server: NanolintServer, path: Path
) -> types.OptionalVersionedTextDocumentIdentifier:
    """The file as the editor calls it; without a version if it is not open."""
    for document in server.session.documents:
        if document.path == path:
            version = server.workspace.get_text_document(document.uri).version
            return types.OptionalVersionedTextDocumentIdentifier(document.uri, version)
    return types.OptionalVersionedTextDocumentIdentifier(path.as_uri())
