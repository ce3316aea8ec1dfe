"""Training scripts of other kinds in the editor: hover, lens and hints by what a value does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from nanolint.linting.engine import read
from nanolint.linting.setup import Setup
from nanolint.lsp.hover import hover
from nanolint.lsp.load import code_lenses, inlay_hints
from nanolint.rule.context import Context
from tests.support.editor import editing
from tests.support.project_tree import write_project
from tests.unit.trainers.written_scripts import script

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = """
batch_size = 64  # all processes together
B, T = 8, 512
passes = batch_size // B
"""


@pytest.fixture
def context(tmp_path: Path) -> Context:
    path = tmp_path / "train.py"
    path.write_text(script(SETTINGS), encoding="utf-8")
    found = read(script(SETTINGS), path, Setup((), {}))
    assert isinstance(found, Context)
    return found


def told(context: Context, before: str) -> str:
    """The hover on what stands behind ``before``."""
    found = hover(context, context.text, context.text.index(before) + len(before))
    return found.markdown if found else ""


def test_a_value_is_told_by_what_it_does_not_by_its_name(context: Context) -> None:
    shown = told(context, "\nbatch")
    assert shown.startswith("**batch_size** = `64`")
    assert "- decides the accumulation: `batch_size // B` = 8" in shown
    assert "- the micro-batch" not in shown
    shown = told(context, "together\n")
    assert "- the micro-batch" in shown
    assert "- can be 1, 2, 4, 8, 16, 32 and 64 with as many tokens a step" in shown


def test_other_names_are_left_alone(context: Context) -> None:
    assert told(context, "optimizer = tor") == ""


def test_lens_and_hints_give_no_number_for_a_model_nobody_knows(context: Context) -> None:
    (lens,) = code_lenses(context)
    assert "'Net' object is not callable" in lens
    assert inlay_hints(context, context.text) == ()


@pytest.mark.asyncio
async def test_an_action_edits_the_file_that_the_value_stands_in(tmp_path: Path) -> None:
    text = script(
        'import yaml\nB, T = yaml.safe_load(open("sizes.yaml"))["rows"], 512\n'
        "assert 2**15 % (B * T) == 0\npasses = 2**15 // (B * T)\n"
    )
    sizes = "# größer 🦜\r\nrows: 24  # of a pass\r\n"
    root = write_project(tmp_path, {"train.py": text, "sizes.yaml": sizes})
    async with editing(root) as editor:
        uri = editor.open("train.py")
        await editor.until(lambda: bool(editor.client.diagnostics.get(uri)))
        for only in ("quickfix", "source.fixAll"):
            params = types.CodeActionParams(
                types.TextDocumentIdentifier(uri),
                types.Range(types.Position(0, 0), types.Position(100, 0)),
                types.CodeActionContext([], only=[only]),
            )
            first, *_ = await editor.client.text_document_code_action_async(params) or ()
            assert isinstance(first, types.CodeAction) and first.edit is not None
            (change,) = first.edit.document_changes or ()
            assert isinstance(change, types.TextDocumentEdit)
            assert change.text_document.uri == (root / "sizes.yaml").as_uri()
            assert change.text_document.version is None
            (edit,) = change.edits
            assert (edit.range.start.line, edit.range.start.character) == (1, 6)
            assert isinstance(edit, types.TextEdit)
            assert edit.new_text in ("16", "16  # of a pass\r\n")
        editor.save_elsewhere("sizes.yaml", "rows: 16\n")
        await editor.until(lambda: not editor.client.diagnostics.get(uri))
