"""One server process for the tests of a file, and a new user of it for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest_asyncio

from tests.support.editor import Editor, editing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import pytest


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def process(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    async with editing(tmp_path_factory.mktemp("workspace")) as editor:
        yield editor


@pytest_asyncio.fixture(loop_scope="module")
async def editor(process: Editor, tmp_path: Path) -> Editor:
    """A user who has just opened the test's folder; the process has served others before."""
    await process.turn_to(tmp_path)
    return process
