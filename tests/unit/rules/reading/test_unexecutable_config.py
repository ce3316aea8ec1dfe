"""What nanoGPT's configurator cannot run, although Python would import it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.source.text import decode
from tests.support.harness import Bench
from tests.support.project_tree import train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

KEYS = b"batch_size = 8\nblock_size = 64\n"


def messages(root: Path, content: bytes) -> list[str]:
    path = write_project(root, {"config/a.py": content}) / "config" / "a.py"
    return [each.message for each in Bench("NL006", path=path).findings(decode(content).text)]


@pytest.mark.parametrize(
    "content",
    [
        KEYS,
        KEYS + "# größer\n".encode(),
        b"# coding: latin-1\n" + KEYS,
        KEYS + b"raise SystemExit\n",
        b"if batch_size > 4:\n    raise ValueError\n" + KEYS,
        b"def check():\n    return 3\n" + KEYS,
        b"assert n_embd % 64 == 0\n" + KEYS,
        KEYS + b"x = 1" + b" + 1" * 5000 + b"\n",
    ],
)
def test_what_runs_to_its_settings_is_not(tmp_path: Path, content: bytes) -> None:
    assert messages(tmp_path, content) == []


def test_a_train_script_is_run_by_python_itself(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + train_script().encode()
    path = write_project(tmp_path, {"train.py": content}) / "train.py"
    assert Bench("NL006", path=path).findings(train_script()) == []
