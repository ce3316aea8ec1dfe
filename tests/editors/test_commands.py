"""The commands of the language server, through the real server process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types

from tests.support.editor import Editor, editing
from tests.support.lsp_configs import CONFIG, SETTINGS, project

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_the_cards_are_listed_for_an_editor_with_a_picker(
    editor: Editor, tmp_path: Path
) -> None:
    project(tmp_path)
    cards = await editor.run("nanolint.listGpus")
    by_name = {_field(card, "name"): card for card in cards}
    assert _field(by_name["RTX 4070"], "total_bytes") // 2**20 == 11994


async def test_another_card_for_the_session_changes_all_that_is_open(
    editor: Editor, tmp_path: Path
) -> None:
    project(tmp_path)
    editor.open(CONFIG)
    (lens,) = await editor.lenses(CONFIG)
    assert lens.startswith("RTX 4070 |")
    await editor.run("nanolint.selectTarget", "a100-80gb")
    (lens,) = await editor.lenses(CONFIG)
    assert lens.startswith("A100 80GB |")
    await editor.until(lambda: types.WORKSPACE_CODE_LENS_REFRESH in editor.asked)
    await editor.until(lambda: types.WORKSPACE_INLAY_HINT_REFRESH in editor.asked)
    assert not editor.edits
    await editor.run("nanolint.selectTarget", None)
    (lens,) = await editor.lenses(CONFIG)
    assert lens.startswith("RTX 4070 |")


async def test_a_card_that_nobody_knows_is_refused_and_nothing_changes(
    editor: Editor, tmp_path: Path
) -> None:
    project(tmp_path)
    editor.open(CONFIG)
    await editor.run("nanolint.selectTarget", "rtx-9999")
    await editor.until(lambda: bool(editor.shown))
    assert "unknown GPU 'rtx-9999'" in editor.shown[0]
    (lens,) = await editor.lenses(CONFIG)
    assert lens.startswith("RTX 4070 |")


async def test_without_an_argument_the_server_offers_the_usual_cards(
    editor: Editor, tmp_path: Path
) -> None:
    project(tmp_path)
    editor.open(CONFIG)
    editor.answer = _press("RTX 4090", "Only for this session")
    await editor.run("nanolint.selectTarget")
    (lens,) = await editor.lenses(CONFIG)
    assert lens.startswith("RTX 4090 |")
    assert not editor.edits
    editor.answer = _press()  # closed without a choice
    await editor.run("nanolint.selectTarget")
    (lens,) = await editor.lenses(CONFIG)
    assert lens.startswith("RTX 4090 |")


async def test_a_card_can_be_written_into_the_settings(editor: Editor, tmp_path: Path) -> None:
    project(tmp_path)
    uri = editor.open(CONFIG)
    choice = {"gpu": "rtx-4090", "scope": "settings", "uri": uri}
    await editor.run("nanolint.selectTarget", choice)
    (edit,) = editor.edits
    assert _applied(edit, editor.uri("nanolint.toml"), SETTINGS) == SETTINGS.replace(
        '"rtx-4070"', '"rtx-4090"'
    )
    editor.save_elsewhere("nanolint.toml", SETTINGS.replace("4070", "4090"))
    (lens,) = await editor.lenses(CONFIG)
    assert lens.startswith("RTX 4090 |")


async def test_a_card_that_was_pressed_can_be_kept_for_good(editor: Editor, tmp_path: Path) -> None:
    project(tmp_path)
    editor.open(CONFIG)
    editor.answer = _press("RTX 4090", "Write it into the settings")
    await editor.run("nanolint.selectTarget")
    (edit,) = editor.edits
    after = _applied(edit, editor.uri("nanolint.toml"), SETTINGS)
    assert after == SETTINGS.replace('"rtx-4070"', '"RTX 4090"')
    editor.save_elsewhere("nanolint.toml", after)
    editor.answer = _press("What the settings say")
    await editor.run("nanolint.selectTarget")
    (lens,) = await editor.lenses(CONFIG)
    assert lens.startswith("RTX 4090 |")


async def test_an_editor_that_refuses_the_edit_is_told_and_the_card_stays(
    editor: Editor, tmp_path: Path
) -> None:
    project(tmp_path)
    uri = editor.open(CONFIG)
    editor.applies = False
    choice = {"gpu": "rtx-4090", "scope": "settings", "uri": uri}
    await editor.run("nanolint.selectTarget", choice)
    await editor.until(lambda: bool(editor.shown))
    assert editor.shown == ["nanolint: nanolint.toml was not changed: refused"]
    (lens,) = await editor.lenses(CONFIG)
    assert lens.startswith("RTX 4070 |")


async def test_without_an_open_config_there_are_no_settings_to_write(
    editor: Editor, tmp_path: Path
) -> None:
    project(tmp_path)
    await editor.run("nanolint.selectTarget", {"gpu": "rtx-4090", "scope": "settings"})
    await editor.until(lambda: bool(editor.shown))
    assert "open a config first" in editor.shown[0] and not editor.edits


async def test_the_unsaved_text_of_the_settings_is_what_changes(
    editor: Editor, tmp_path: Path
) -> None:
    unsaved = f"ignore = []\n{SETTINGS}"
    project(tmp_path)
    uri = editor.open(CONFIG)
    editor.open("nanolint.toml", unsaved)
    choice = {"gpu": "rtx-4090", "scope": "settings", "uri": uri}
    await editor.run("nanolint.selectTarget", choice)
    (edit,) = editor.edits
    after = _applied(edit, editor.uri("nanolint.toml"), unsaved)
    assert after == unsaved.replace("4070", "4090")


async def test_a_project_without_settings_gets_a_file_of_its_own(
    editor: Editor, tmp_path: Path
) -> None:
    project(tmp_path, settings="")
    uri = editor.open(CONFIG)
    (lens,) = await editor.lenses(CONFIG)
    assert lens.startswith("no target GPU: choose one |")
    choice = {"gpu": "rtx-4090", "scope": "settings", "uri": uri}
    await editor.run("nanolint.selectTarget", choice)
    (edit,) = editor.edits
    assert edit.document_changes is not None
    create, fill = edit.document_changes
    assert isinstance(create, types.CreateFile) and create.uri == editor.uri("nanolint.toml")
    assert isinstance(fill, types.TextDocumentEdit)
    assert fill.edits[0].new_text == 'gpu = "rtx-4090"\n'  # type: ignore[union-attr]


async def test_a_setting_of_the_editors_that_wins_over_the_file_is_told(tmp_path: Path) -> None:
    root = project(tmp_path)
    async with editing(root, options={"gpu": "a100-80gb"}) as editor:
        uri = editor.open(CONFIG)
        choice = {"gpu": "rtx-4090", "scope": "settings", "uri": uri}
        await editor.run("nanolint.selectTarget", choice)
        await editor.until(lambda: bool(editor.shown))
        (lens,) = await editor.lenses(CONFIG)
    assert editor.shown == ["nanolint: nanolint.toml is changed, but the editor decides"]
    assert lens.startswith("A100 80GB |")


async def test_settings_that_only_a_person_can_change_stay_as_they_are(
    editor: Editor, tmp_path: Path
) -> None:
    settings = '[[target]]\ngpu = "rtx-4070"\n'
    project(tmp_path, settings=settings)
    uri = editor.open(CONFIG)
    choice = {"gpu": "rtx-4090", "scope": "settings", "uri": uri}
    await editor.run("nanolint.selectTarget", choice)
    await editor.until(lambda: bool(editor.shown))
    (lens,) = await editor.lenses(CONFIG)
    assert "target tables" in editor.shown[0]
    assert not editor.edits
    assert lens.startswith("RTX 4070 |")


def _press(*titles: str) -> Any:
    """Press the first of the buttons that has one of these titles."""

    def answer(question: types.ShowMessageRequestParams) -> str | None:
        offered = [action.title for action in question.actions or ()]
        return next((title for title in titles if title in offered), None)

    return answer


def _applied(edit: types.WorkspaceEdit, uri: str, text: str) -> str:
    """``text`` of the document ``uri`` after ``edit``; all its characters are ASCII."""
    assert edit.document_changes is not None
    (change,) = edit.document_changes
    assert isinstance(change, types.TextDocumentEdit) and change.text_document.uri == uri
    lines = text.splitlines(keepends=True)
    for each in change.edits:
        assert isinstance(each, types.TextEdit)
        start, end = each.range.start, each.range.end
        assert start.line == end.line
        line = lines[start.line]
        lines[start.line] = line[: start.character] + each.new_text + line[end.character :]
    return "".join(lines)


def _field(card: Any, name: str) -> Any:
    return card[name] if isinstance(card, dict) else getattr(card, name)
