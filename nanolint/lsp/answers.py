"""What the features found, in the protocol's words and in the form that the editor can show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from nanolint.lsp.choosing import SELECT_TARGET
from nanolint.lsp.markdown import plain
from nanolint.lsp.positions import Positions
from nanolint.lsp.settings_file import NotEditable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.diagnostics import Span
    from nanolint.lsp.completion import Completion
    from nanolint.lsp.hover import Hover
    from nanolint.lsp.load import InlayHint
    from nanolint.lsp.model_lines import Lens
    from nanolint.lsp.settings_file import SettingsEdit

TOP = types.Range(types.Position(0, 0), types.Position(0, 0))


def hover(
    found: Hover, range_of: Callable[[Span], types.Range], client: types.ClientCapabilities
) -> types.Hover:
    """A hover in the format that the client likes best; plain text for one that does not say."""
    wanted = client.text_document and client.text_document.hover
    formats = (wanted and wanted.content_format) or [types.MarkupKind.PlainText]
    content = found.markdown
    if formats[0] == types.MarkupKind.PlainText:
        content = plain(content)
    return types.Hover(types.MarkupContent(formats[0], content), range_of(found.span))


def completions(
    found: Sequence[Completion],
    range_of: Callable[[Span], types.Range],
    client: types.ClientCapabilities,
) -> types.CompletionList:
    """The completions in their order, with a part to type over where the client knows snippets."""
    wanted = client.text_document and client.text_document.completion
    item = wanted and wanted.completion_item
    snippets = bool(item and item.snippet_support)
    details = bool(item and item.label_details_support)
    return types.CompletionList(
        is_incomplete=False,
        items=[
            _item(each, number, range_of, snippets=snippets, details=details)
            for number, each in enumerate(found)
        ],
    )


def inlay_hints(
    found: Sequence[InlayHint], position_of: Callable[[int], types.Position]
) -> list[types.InlayHint]:
    """The hints, each set off from the code before it."""
    return [
        types.InlayHint(
            position_of(hint.offset), hint.label, tooltip=hint.tooltip, padding_left=True
        )
        for hint in found
    ]


def code_lenses(titles: Sequence[str]) -> list[types.CodeLens]:
    """The lenses on top of the file; a click asks for another card."""
    return [types.CodeLens(TOP, types.Command(title, SELECT_TARGET)) for title in titles]


def line_lenses(found: Sequence[Lens]) -> list[types.CodeLens]:
    """Lenses above lines of a model; a click on the first asks for another card."""
    made = []
    for each in found:
        place = types.Position(each.row - 1, 0)
        command = SELECT_TARGET if each.row == 1 else ""
        made.append(types.CodeLens(types.Range(place, place), types.Command(each.title, command)))
    return made


def workspace_edit(
    found: SettingsEdit,
    file: types.OptionalVersionedTextDocumentIdentifier,
    encoding: str,
    client: types.ClientCapabilities,
) -> types.WorkspaceEdit:
    """The change of a settings file, and its creation, in the form that the client knows.

    Raises NotEditable for a client that cannot create a file.
    """
    support = client.workspace and client.workspace.workspace_edit
    positions = Positions(found.text, encoding)
    change = types.TextEdit(positions.range(found.edit), found.edit.replacement)
    if found.is_new and types.ResourceOperationKind.Create not in (
        (support and support.resource_operations) or ()
    ):
        raise NotEditable(f"write {found.edit.replacement.strip()} into {found.path} yourself")
    if not (support and support.document_changes):
        return types.WorkspaceEdit(changes={file.uri: [change]})
    fill = types.TextDocumentEdit(file, [change])
    if not found.is_new:
        return types.WorkspaceEdit(document_changes=[fill])
    create = types.CreateFile(file.uri, options=types.CreateFileOptions(ignore_if_exists=True))
    return types.WorkspaceEdit(document_changes=[create, fill])


def _item(
    each: Completion,
    number: int,
    range_of: Callable[[Span], types.Range],
    *,
    snippets: bool,
    details: bool,
) -> types.CompletionItem:
    snippet = each.snippet if snippets else None
    text_format = types.InsertTextFormat
    return types.CompletionItem(
        label=each.label,
        label_details=types.CompletionItemLabelDetails(description=each.detail)
        if details and each.detail
        else None,
        kind=types.CompletionItemKind.Property if each.is_key else types.CompletionItemKind.Value,
        detail=each.detail or None,
        documentation=each.documentation or None,
        sort_text=f"{number:04}",
        filter_text=each.label if each.is_key else each.new_text,
        insert_text_format=text_format.Snippet if snippet else text_format.PlainText,
        text_edit=types.TextEdit(range_of(each.span), snippet or each.new_text),
    )
