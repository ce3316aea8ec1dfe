"""One sitting at the editor, from opening a config to closing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tests.support.editor import editing
from tests.support.project_tree import train_script
from tests.support.sitting import BATCH_LINE, CONFIG, FIXED, LARGER_MODEL, TOO_LARGE, project

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.editor import Editor


def errors(editor: Editor, name: str) -> list[types.Diagnostic]:
    found = editor.client.diagnostics.get(editor.uri(name), ())
    return [each for each in found if each.severity == types.DiagnosticSeverity.Error]


async def error(editor: Editor) -> types.Diagnostic:
    await editor.until(lambda: len(errors(editor, "config.py")) == 1)
    (found,) = errors(editor, "config.py")
    return found


async def no_error(editor: Editor) -> None:
    await editor.until(lambda: errors(editor, "config.py") == [])


async def preferred_fix(editor: Editor, found: types.Diagnostic) -> list[types.TextEdit]:
    """The edits of the fix that an editor would offer first for a diagnostic."""
    uri = editor.uri("config.py")
    answer = await editor.client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(uri),
            found.range,
            types.CodeActionContext([found], only=[types.CodeActionKind.QuickFix]),
        )
    )
    (action,) = [
        each for each in answer or () if isinstance(each, types.CodeAction) and each.is_preferred
    ]
    if action.edit is None:
        action = await editor.client.code_action_resolve_async(action)
    assert action.edit is not None
    if action.edit.changes is not None:
        return list(action.edit.changes[uri])
    (change,) = action.edit.document_changes or ()
    assert isinstance(change, types.TextDocumentEdit)
    return [edit for edit in change.edits if isinstance(edit, types.TextEdit)]


def applied(text: str, edits: list[types.TextEdit]) -> str:
    """``text``, which is ASCII, with the edits made from its end to its start."""
    lines = text.splitlines(keepends=True)

    def offset(place: types.Position) -> int:
        return sum(map(len, lines[: place.line])) + place.character

    for edit in sorted(edits, key=lambda edit: offset(edit.range.start), reverse=True):
        start, end = offset(edit.range.start), offset(edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    return text


@pytest.mark.asyncio
async def test_a_sitting_at_the_editor(tmp_path: Path) -> None:
    root = project(tmp_path)

    async with editing(root) as editor:
        uri = editor.open("config.py")
        await editor.until(lambda: uri in editor.client.diagnostics)
        assert errors(editor, "config.py") == []

        editor.type("config.py", TOO_LARGE)
        found = await error(editor)
        assert found.code == "NL102"
        assert found.range.start.line == BATCH_LINE
        assert "does not fit RTX 3060 12GB: needs 12.3 of 11.6 GiB (0.7 short)" in found.message

        hover = await editor.hover("config.py", BATCH_LINE, 2)
        assert hover is not None
        assert "batch_size" in str(hover.contents)

        fixed = applied(TOO_LARGE, await preferred_fix(editor, found))
        assert fixed == FIXED
        editor.type("config.py", fixed)
        await no_error(editor)

        editor.type("config.py", TOO_LARGE)  # undo
        assert (await error(editor)).message == found.message

        await editor.run("nanolint.selectTarget", "a100-40gb")
        await no_error(editor)

        editor.open("train.py")
        editor.type("train.py", LARGER_MODEL)
        assert "A100" in (await error(editor)).message
        assert (root / "train.py").read_text() == train_script(), "nothing was saved"

        editor.type("train.py", train_script())
        await no_error(editor)

        for name in ("train.py", "config.py"):
            document = types.TextDocumentIdentifier(editor.uri(name))
            editor.client.text_document_did_close(types.DidCloseTextDocumentParams(document))
        await editor.until(lambda: not editor.client.diagnostics.get(uri))
    assert (root / "config.py").read_text() == CONFIG
