"""What a status bar can say about the card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.editor import editing
from tests.support.sitting import project

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.editor import Editor

pytestmark = pytest.mark.asyncio


async def target(editor: Editor, name: str) -> Any:
    return await editor.client.protocol.send_request_async(  # type: ignore[no-untyped-call]
        "nanolint/target", {"uri": editor.uri(name)}
    )


async def test_the_card_is_told_with_what_named_it(tmp_path: Path) -> None:
    root = project(tmp_path)
    async with editing(root) as editor:
        editor.open("config.py")
        told = await target(editor, "config.py")
        assert told.gpus == ["RTX 3060 12GB"]
        assert told.origin.endswith("nanolint.toml")
        await editor.run("nanolint.selectTarget", "8xA100-40GB")
        told = await target(editor, "config.py")
        assert told.gpus == ["8x A100 40GB"]
        assert told.origin == "the editor"


async def test_without_a_card_there_is_none_to_tell(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / "nanolint.toml").unlink()
    async with editing(root) as editor:
        editor.open("config.py")
        told = await target(editor, "config.py")
        assert (told.gpus, told.origin) == ([], None)


async def test_a_file_that_is_not_open_has_no_card(tmp_path: Path) -> None:
    async with editing(project(tmp_path)) as editor:
        assert await target(editor, "config.py") is None
