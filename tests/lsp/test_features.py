"""Hover, completion, hints, lenses and commands, through the real server process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from lsprotocol import types

from tests.lsp.editor import Editor, capabilities, editing
from tests.project_tree import train_script, write_project

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONFIG = "config/small.py"
TEXT = "batch_size = 4\nblock_size = 1024\n"
SETTINGS = '# what we have\ngpu = "rtx-4070"  # in the office\n'
PARROT = "# 🦜 größer\r\nwandb_run_name = '🦜'; batch_size = 4\r\nblock_size = 1024\r\n"
# Where batch_size starts in its line, in the units of each encoding.
COLUMNS = {
    types.PositionEncodingKind.Utf8: len("wandb_run_name = '🦜'; ".encode()),
    types.PositionEncodingKind.Utf16: len("wandb_run_name = '🦜'; ".encode("utf-16-le")) // 2,
    types.PositionEncodingKind.Utf32: len("wandb_run_name = '🦜'; "),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def process(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    async with editing(tmp_path_factory.mktemp("workspace")) as editor:
        yield editor


@pytest_asyncio.fixture(loop_scope="module")
async def editor(process: Editor, tmp_path: Path) -> Editor:
    """A user who has just opened the test's folder; the process has served others before."""
    await process.turn_to(tmp_path)
    return process


def project(root: Path, text: str = TEXT, settings: str = SETTINGS) -> Path:
    files: dict[str, str | bytes] = {CONFIG: text}
    if settings:
        files["nanolint.toml"] = settings
    return write_project(root, files)


def content(found: types.Hover | None) -> str:
    assert found is not None and isinstance(found.contents, types.MarkupContent)
    return found.contents.value


async def test_hover_tells_of_a_key_in_markdown(editor: Editor, tmp_path: Path) -> None:
    project(tmp_path)
    editor.open(CONFIG)
    found = await editor.hover(CONFIG, 0, 3)
    assert content(found).startswith("**batch_size** = `4`\n\nmicro-batch")
    assert "- train.py's default: `12`" in content(found)
    assert found is not None
    assert found.range == types.Range(types.Position(0, 0), types.Position(0, 10))


async def test_an_editor_without_markdown_gets_plain_text(tmp_path: Path) -> None:
    async with editing(project(tmp_path), client_capabilities=capabilities(plain=True)) as editor:
        editor.open(CONFIG)
        found = await editor.hover(CONFIG, 0, 3)
        keys = await editor.complete(CONFIG, 2, 0)
    assert content(found).startswith("batch_size = 4\n")
    assert "`" not in content(found) and "**" not in content(found)
    assert found is not None and isinstance(found.contents, types.MarkupContent)
    assert found.contents.kind == types.MarkupKind.PlainText
    inserted = {key.label: key.text_edit for key in keys}["n_layer"]
    assert isinstance(inserted, types.TextEdit) and inserted.new_text == "n_layer = 12"


@pytest.mark.parametrize("encoding", COLUMNS, ids=str)
async def test_places_are_right_behind_characters_that_are_not_ascii(
    tmp_path: Path, encoding: types.PositionEncodingKind
) -> None:
    able = capabilities(encodings=(encoding,))
    column = COLUMNS[encoding]
    async with editing(project(tmp_path), client_capabilities=able) as editor:
        editor.open(CONFIG, PARROT)
        found = await editor.hover(CONFIG, 1, column)
        (hint,) = await editor.hints(CONFIG)
    assert found is not None
    assert found.range == types.Range(
        types.Position(1, column), types.Position(1, column + len("batch_size"))
    )
    assert hint.position == types.Position(1, column + len("batch_size = 4"))


async def test_hover_on_a_suppression_shows_the_page_of_its_rule(
    editor: Editor, tmp_path: Path
) -> None:
    text = f"batch_size = 4  # nanolint: ignore[NL103]\n{TEXT}"
    project(tmp_path, text)
    editor.open(CONFIG)
    found = await editor.hover(CONFIG, 0, 36)
    assert content(found).startswith("# thin-margin (NL103)")


async def test_keys_and_values_are_completed(editor: Editor, tmp_path: Path) -> None:
    extra = "rotary_base = 10000  # of the rotary embedding\n"
    root = project(tmp_path, f"{TEXT}dtype = '\n")
    (root / "train.py").write_text(train_script(extra_settings=extra))
    editor.open(CONFIG)
    keys = {key.label: key for key in await editor.complete(CONFIG, 3, 0)}
    values = await editor.complete(CONFIG, 2, 9)
    assert keys["n_layer"].detail == "train.py's default: 12"
    assert keys["n_layer"].documentation == "transformer blocks"
    assert keys["n_layer"].insert_text_format == types.InsertTextFormat.Snippet
    assert keys["rotary_base"].documentation == "of the rotary embedding"
    assert "batch_size" not in keys
    (bfloat16,) = [value for value in values if "bfloat16" in value.label]
    assert bfloat16.text_edit == types.TextEdit(
        types.Range(types.Position(2, 8), types.Position(2, 9)), "'bfloat16'"
    )


async def test_cards_are_completed_in_a_settings_file(editor: Editor, tmp_path: Path) -> None:
    project(tmp_path)
    editor.open("nanolint.toml", 'gpu = "rtx 40')
    found = await editor.complete("nanolint.toml", 0, 13)
    (card,) = [item for item in found if item.label == "RTX 4070"]
    assert card.detail == "11.71 GiB"
    assert isinstance(card.text_edit, types.TextEdit)
    assert card.text_edit.new_text == '"RTX 4070"'


async def test_files_of_other_kinds_are_left_in_peace(editor: Editor, tmp_path: Path) -> None:
    project(tmp_path)
    editor.open("Cargo.toml", "batch_size = 4\nblock_size = 1024\n")
    assert not await editor.complete("Cargo.toml", 2, 0)
    assert not await editor.lenses("Cargo.toml")
    assert await editor.hover("Cargo.toml", 0, 2) is None


async def test_the_hint_and_the_lens_tell_what_the_run_takes(
    editor: Editor, tmp_path: Path
) -> None:
    project(tmp_path)
    editor.open(CONFIG)
    (hint,) = await editor.hints(CONFIG)
    (lens,) = await editor.lenses(CONFIG)
    assert isinstance(hint.label, str) and hint.label.endswith(" of 11.71 GiB")
    assert lens.startswith(f"RTX 4070 | peak {hint.label} | ")
    assert lens.endswith("to spare | effective batch 160 | 163,840 tokens per iteration")


async def test_a_half_typed_file_keeps_its_hint_lens_and_hover(
    editor: Editor, tmp_path: Path
) -> None:
    project(tmp_path)
    editor.open(CONFIG)
    (before,) = await editor.hints(CONFIG)
    lenses = await editor.lenses(CONFIG)
    editor.type(CONFIG, "n_layer = (\nbatch_size = 4\nblock_size = 1024\n")
    (after,) = await editor.hints(CONFIG)
    assert (after.label, after.position) == (before.label, types.Position(1, 14))
    assert await editor.lenses(CONFIG) == lenses
    assert content(await editor.hover(CONFIG, 1, 2)).startswith("**batch_size** = `4`")
    editor.type(CONFIG, "batch_size = 4\nblock_size\n")  # no longer two keys
    assert await editor.hints(CONFIG)
    editor.type(CONFIG, "batch_size = 2\nblock_size = 1024\n")
    (whole,) = await editor.hints(CONFIG)
    assert whole.label != before.label


async def test_an_unsaved_edit_of_train_py_reaches_the_hints_of_a_config(
    editor: Editor, tmp_path: Path
) -> None:
    root = project(tmp_path)
    editor.open(CONFIG)
    (before,) = await editor.hints(CONFIG)
    editor.open("train.py")
    editor.asked.clear()
    script = (root / "train.py").read_text()
    editor.type("train.py", script.replace("n_layer = 12", "n_layer = 6"))
    await editor.until(lambda: types.WORKSPACE_INLAY_HINT_REFRESH in editor.asked)
    await editor.until(lambda: types.WORKSPACE_CODE_LENS_REFRESH in editor.asked)
    (after,) = await editor.hints(CONFIG)
    assert after.label != before.label
    assert "= `6`" in content(await editor.hover("train.py", _line(script, "n_layer"), 2))


async def test_another_gpu_typed_into_the_settings_counts_before_it_is_saved(
    editor: Editor, tmp_path: Path
) -> None:
    project(tmp_path)
    editor.open(CONFIG)
    editor.open("nanolint.toml")
    assert (await editor.lenses(CONFIG))[0].startswith("RTX 4070 |")
    editor.type("nanolint.toml", 'gpu = "rtx-40')  # half typed
    await editor.complete("nanolint.toml", 0, 13)
    editor.type("nanolint.toml", 'gpu = ["rtx-4090", "t4"]')
    lenses = await editor.lenses(CONFIG)
    assert [lens.partition(" |")[0] for lens in lenses] == ["RTX 4090", "T4"]
    (hint,) = await editor.hints(CONFIG)
    assert " on T4" in str(hint.label)


async def test_a_hint_outside_the_part_that_is_shown_is_left_out(
    editor: Editor, tmp_path: Path
) -> None:
    project(tmp_path, f"n_layer = 2\n{TEXT}")
    editor.open(CONFIG)
    assert not await editor.hints(CONFIG, last_line=1)
    assert await editor.hints(CONFIG, last_line=2)


async def test_a_script_has_no_hints_and_no_lenses(editor: Editor, tmp_path: Path) -> None:
    project(tmp_path)
    editor.open("sample.py")
    assert not await editor.lenses("sample.py")
    assert not await editor.hints("sample.py")
    assert await editor.hover("sample.py", 3, 2) is None


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


def _line(text: str, key: str) -> int:
    return next(row for row, line in enumerate(text.splitlines()) if line.startswith(key))


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
