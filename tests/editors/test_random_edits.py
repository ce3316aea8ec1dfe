"""Whatever is typed, the server lives, and in the end says what a fresh check says."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from lsprotocol import types

from nanolint.files import door
from nanolint.lsp.diagnostics import protocol_diagnostic
from nanolint.lsp.positions import Positions
from nanolint.lsp.session import Session
from tests.support.editor import capabilities, editing
from tests.support.project_tree import train_script, write_project

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.support.editor import Editor

SESSIONS = int(os.environ.get("NANOLINT_EDIT_SESSIONS", "4"))  # of up to 60 edits each
SETTINGS = ('gpu = "rtx-3060"\n', 'gpu = ["rtx-4070", "t4"]\nignore = ["NL3"]\n', "")
FILES = ("config/a.py", "config/b.py", "train.py", "nanolint.toml")
START = {
    "config/a.py": "from config.b import *\nbatch_size = 16\nblock_size = 1024\n",
    "config/b.py": "gradient_accumulation_steps = 5 * 8  # größer 🦜\r\nn_layer = 6\r\n",
    "train.py": train_script(),
    "nanolint.toml": 'gpu = "rtx-3060"\n',
}
PIECES = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=4),
    st.sampled_from(
        (
            *("\n", "\r\n", "\r", "\f", "\u2028", "🦜", "ß", "\0", "#", '"""', "(", "]", "\\\n"),
            *("batch_size = 512\n", "batch_size = 1\n", "n_layer = n_head\n", "9**9**9", "\ufeff"),
            *(
                "dtype = 'float16'\n",
                "del batch_size\n",
                'ignore = ["NL1"]\n',
                "# nanolint: ignore",
            ),
        )
    ),
)
EDITS = st.lists(
    st.tuples(st.sampled_from(FILES), st.integers(0, 60), st.integers(0, 6), PIECES), max_size=60
)
ENCODINGS = (
    types.PositionEncodingKind.Utf8,
    types.PositionEncodingKind.Utf16,
    types.PositionEncodingKind.Utf32,
)


def edited(text: str, start: int, length: int, piece: str) -> str:
    """``text`` with some characters replaced; positions wrap around."""
    start = start % (len(text) + 1)
    return text[:start] + piece + text[start + length :]


@pytest.mark.parametrize("encoding", ENCODINGS, ids=str)
def test_random_edits_leave_nothing_stale(
    tmp_path: Path, encoding: types.PositionEncodingKind
) -> None:
    root = write_project(tmp_path, dict(START))
    loop = asyncio.new_event_loop()
    running = editing(root, client_capabilities=capabilities(encodings=(encoding,)))
    editor = loop.run_until_complete(running.__aenter__())

    @settings(
        max_examples=SESSIONS,
        phases=[Phase.generate],  # a failure waits long; making it smaller would take hours
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(edits=EDITS)
    def session(edits: list[tuple[str, int, int, str]]) -> None:
        loop.run_until_complete(_type(editor, edits, encoding))

    try:
        session()
    finally:
        loop.run_until_complete(running.__aexit__(None, None, None))
        loop.close()


async def _type(editor: Editor, edits: list[tuple[str, int, int, str]], encoding: str) -> None:
    """Type ``edits``, and wait until the server says what is to be expected.

    Settings are always whole: while they are half typed, what they were before counts.
    """
    texts = dict(START)
    await editor.turn_to(editor.root)
    for name in FILES:
        editor.open(name, texts[name])
    for name, start, length, piece in edits:
        is_settings = name == "nanolint.toml"
        changed = SETTINGS[start % 3] if is_settings else edited(texts[name], start, length, piece)
        texts[name] = changed
        editor.type(name, changed)
        if length == 0:  # now and then the server has to say what it makes of a text
            await editor.lenses(FILES[start % 3])
    expected = {name: _expected(editor.root, texts, name, encoding) for name in FILES[:3]}
    shown = editor.client.diagnostics
    try:
        await editor.until(
            lambda: all(_told(shown.get(editor.uri(name))) == expected[name] for name in expected)
        )
    except TimeoutError:
        assert {name: _told(shown.get(editor.uri(name))) for name in expected} == expected


def _expected(root: Path, texts: dict[str, str], name: str, encoding: str) -> set[str]:
    """What a new session says of the file, with all files as they were typed on the disk."""
    for each, text in texts.items():
        (root / each).write_bytes(text.encode())
    door.forget()
    session = Session({}, lambda _: None)
    path = root / name
    session.open(path.as_uri(), path, texts[name], is_python=True)
    document = session.document(path.as_uri())
    assert document is not None and document.judged is not None
    positions = Positions(texts[name], encoding)
    found = document.judged.diagnostics
    session.close(document.uri)
    return _told([protocol_diagnostic(each, document.uri, positions) for each in found])


def _told(found: Iterable[types.Diagnostic] | None) -> set[str]:
    """What a user sees of findings; None: nothing was sent yet."""
    if found is None:
        return {"nothing was sent"}
    return {f"{each.range}: {each.code} {each.message}" for each in found}
