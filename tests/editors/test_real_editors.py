"""What real editors say that they can do, and whether they get no more than that.

The capabilities are recordings that come with pytest-lsp, which also refuses what the server sends
beyond them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types
from pytest_lsp import client_capabilities

from tests.support.editor import UTF16, editing
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path

EDITORS = ("visual-studio-code", "neovim@v0.11.0", "neovim@v0.6.1", "emacs@v29.1")
CONFIG = "config/small.py"
# Where the value of batch_size ends: a parrot is 4 bytes, 2 units of UTF-16, or one character.
COLUMNS = {types.PositionEncodingKind.Utf8: 39, UTF16: 37, types.PositionEncodingKind.Utf32: 36}
TEXT = "wandb_run_name = '🦜'; batch_size = 4\nblock_size = 1024\n"


@pytest.mark.parametrize("name", EDITORS)
@pytest.mark.asyncio
async def test_an_editor_gets_what_it_can_show(name: str, tmp_path: Path) -> None:
    able = client_capabilities(name)
    text = able.text_document
    assert text is not None and text.hover is not None and text.completion is not None
    root = write_project(tmp_path, {CONFIG: TEXT, "nanolint.toml": 'gpu = "rtx-4070"\n'})
    async with editing(root, client_capabilities=able) as editor:
        editor.open(CONFIG)
        hover = await editor.hover(CONFIG, 1, 3)
        (key, *_) = await editor.complete(CONFIG, 2, 0)
        (hint,) = await editor.hints(CONFIG)
        await editor.run("nanolint.selectTarget", "rtx-4090")
        (lens,) = await editor.lenses(CONFIG)
    assert hover is not None and isinstance(hover.contents, types.MarkupContent)
    assert hover.contents.kind in (text.hover.content_format or [])
    item = text.completion.completion_item
    assert isinstance(key.text_edit, types.TextEdit)
    assert ("${1:" in key.text_edit.new_text) is bool(item and item.snippet_support)
    encodings = able.general and able.general.position_encodings
    encoding = types.PositionEncodingKind(encodings[0]) if encodings else UTF16
    assert hint.position == types.Position(0, COLUMNS[encoding])
    assert lens.startswith("RTX 4090 |")
