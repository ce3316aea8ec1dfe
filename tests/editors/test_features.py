"""Hover, completion, hints, lenses and commands, through the real server process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tests.support.editor import Editor, capabilities, editing
from tests.support.lsp_configs import CONFIG, SMALL, project
from tests.support.project_tree import train_script

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.asyncio(loop_scope="module")

PARROT = "# 🦜 größer\r\nwandb_run_name = '🦜'; batch_size = 4\r\nblock_size = 1024\r\n"
# Where batch_size starts in its line, in the units of each encoding.
COLUMNS = {
    types.PositionEncodingKind.Utf8: len("wandb_run_name = '🦜'; ".encode()),
    types.PositionEncodingKind.Utf16: len("wandb_run_name = '🦜'; ".encode("utf-16-le")) // 2,
    types.PositionEncodingKind.Utf32: len("wandb_run_name = '🦜'; "),
}


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
    text = f"batch_size = 4  # nanolint: ignore[NL103]\n{SMALL}"
    project(tmp_path, text)
    editor.open(CONFIG)
    found = await editor.hover(CONFIG, 0, 36)
    assert content(found).startswith("# thin-margin (NL103)")


async def test_keys_and_values_are_completed(editor: Editor, tmp_path: Path) -> None:
    extra = "rotary_base = 10000  # of the rotary embedding\n"
    root = project(tmp_path, f"{SMALL}dtype = '\n")
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
    assert isinstance(hint.label, str) and hint.label.endswith(" of 11.7 GiB")
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
    project(tmp_path, f"n_layer = 2\n{SMALL}")
    editor.open(CONFIG)
    assert not await editor.hints(CONFIG, last_line=1)
    assert await editor.hints(CONFIG, last_line=2)


async def test_a_script_has_no_hints_and_no_lenses(editor: Editor, tmp_path: Path) -> None:
    project(tmp_path)
    editor.open("sample.py")
    assert not await editor.lenses("sample.py")
    assert not await editor.hints("sample.py")
    assert await editor.hover("sample.py", 3, 2) is None


def _line(text: str, key: str) -> int:
    return next(row for row, line in enumerate(text.splitlines()) if line.startswith(key))
