"""Answers in the form that each editor can take."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from nanolint.diagnostics import Edit, Span
from nanolint.lsp import answers
from nanolint.lsp.completion import Completion
from nanolint.lsp.hover import Hover
from nanolint.lsp.positions import Positions
from nanolint.lsp.settings_file import NotEditable, SettingsEdit

UTF16 = types.PositionEncodingKind.Utf16
FILE = Path("nanolint.toml").absolute()
CLOSED = types.OptionalVersionedTextDocumentIdentifier(FILE.as_uri())
CHANGED = SettingsEdit(FILE, '# 🦜\ngpu = "T4"\n', Edit(10, 14, '"A10"'))
NEW = SettingsEdit(FILE, "", Edit(0, 0, 'gpu = "A10"\n'), is_new=True)
NOTHING = types.ClientCapabilities()


def able(**kwargs: object) -> types.ClientCapabilities:
    edit = types.WorkspaceEditClientCapabilities(**kwargs)  # type: ignore[arg-type]
    return types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(workspace_edit=edit)
    )


def test_an_old_editor_gets_plain_changes() -> None:
    edit = answers.workspace_edit(CHANGED, CLOSED, UTF16, NOTHING)
    assert edit.document_changes is None and edit.changes is not None
    (change,) = edit.changes[FILE.as_uri()]
    assert change.range == types.Range(types.Position(1, 6), types.Position(1, 10))


def test_an_editor_that_creates_no_files_is_told_what_to_write() -> None:
    for client in (NOTHING, able(document_changes=True)):
        with pytest.raises(NotEditable, match=r"gpu = .A10. into .*nanolint\.toml"):
            answers.workspace_edit(NEW, CLOSED, UTF16, client)


def test_an_open_settings_file_is_changed_in_the_version_that_was_read() -> None:
    file = types.OptionalVersionedTextDocumentIdentifier(FILE.as_uri(), 7)
    edit = answers.workspace_edit(CHANGED, file, UTF16, able(document_changes=True))
    assert edit.document_changes is not None
    (change,) = edit.document_changes
    assert isinstance(change, types.TextDocumentEdit) and change.text_document.version == 7


def test_an_editor_that_says_nothing_gets_plain_text_and_no_snippets() -> None:
    positions = Positions("batch_size = 4", UTF16)
    found = Hover(Span(0, 10), "**batch_size** = `4`\n\n```python\nx = 1\n```")
    shown = answers.hover(found, positions.range, NOTHING)
    assert isinstance(shown.contents, types.MarkupContent)
    assert shown.contents.value == "batch_size = 4\n\n```python\nx = 1\n```"
    key = Completion("n_head", Span(0, 2), "n_head = 12", "12", "", "n_head = ${1:12}", is_key=True)
    (item,) = answers.completions([key], positions.range, NOTHING).items
    assert isinstance(item.text_edit, types.TextEdit)
    assert item.text_edit.new_text == "n_head = 12"
    assert item.insert_text_format == types.InsertTextFormat.PlainText
    assert item.label_details is None


def test_completions_keep_their_order() -> None:
    positions = Positions("", UTF16)
    found = [Completion(name, Span(0, 0), name) for name in ("b", "a", *map(str, range(20)))]
    items = answers.completions(found, positions.range, NOTHING).items
    assert sorted(items, key=lambda item: item.sort_text or "") == list(items)
