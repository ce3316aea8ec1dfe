"""What nanoGPT's configurator cannot run, although Python would import it.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.rules.reading.test_unexecutable_config import KEYS, messages


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xef\xbb\xbf" + KEYS, "byte order mark"),
        (b"# coding: latin-1\n" + KEYS + b"# caf\xe9\n", "not UTF-8"),
        (KEYS + b"return\n", "'return' outside function"),
        (b"break\n" + KEYS, "outside loop"),
        (b"raise SystemExit\n" + KEYS, "`raise SystemExit` ends the run"),
        (b"batch_size = 8\nassert False, 'no'\nblock_size = 4\n", "`assert False, 'no'` ends"),
        (b"import sys\nsys.exit(1)\n" + KEYS, "`sys.exit(1)` ends the run"),
    ],
)
def test_what_exec_refuses_is_reported(tmp_path: Path, content: bytes, reason: str) -> None:
    (message,) = messages(tmp_path, content)
    assert message.startswith("configurator.py cannot run this file: ")
    assert reason in message
