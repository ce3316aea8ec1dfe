"""What would differ on Windows and macOS, as far as it shows here: paths, line ends, code pages."""

from __future__ import annotations

import ntpath
import os
import posixpath
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from nanolint.files.repository import place_below
from nanolint.settings import tables, targets
from tests.support.command import nanolint


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


GPT2 = "batch_size = 64\nblock_size = 1024\ngradient_accumulation_steps = 8\n"


@pytest.mark.parametrize(
    ("path", "root", "place"),
    [
        (r"C:\work\config\a.py", r"C:\work", "config/a.py"),
        (r"C:\work\..\other\a.py", r"C:\work", "../other/a.py"),
        (r"D:\data\a.py", r"C:\work", "D:/data/a.py"),  # another drive: there is no way
    ],
)
def test_places_on_windows_are_written_with_slashes(path: str, root: str, place: str) -> None:
    assert place_below(path, root, ntpath) == place


def test_a_backslash_in_a_name_stays_elsewhere() -> None:
    assert place_below(r"/work/a\b.py", "/work", posixpath) == r"a\b.py"


@pytest.mark.parametrize(
    "command",
    [
        ["a.py", "--gpu=rtx-4070"],
        ["explain", "a.py", "--gpu=rtx-4070"],
        ["fit", "a.py", "--gpu=rtx-4070"],
        ["rule", "NL102"],
        ["gpus", "4070"],
    ],
    ids=lambda command: command[0],
)
def test_a_console_of_code_page_1252_gets_nothing_it_cannot_show(
    tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / "a.py").write_text(GPT2, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "nanolint", *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        check=False,
    )
    shown = done.stdout.decode("cp1252")
    assert done.returncode in (0, 1) and shown
    assert b"Traceback" not in done.stderr
    assert "\\u" not in shown, "an escape where a plainer character was to be chosen"


def test_a_file_with_windows_line_ends_keeps_them() -> None:
    Path("a.py").write_bytes(GPT2.replace("\n", "\r\n").encode())
    assert nanolint("a.py", "--gpu=rtx-4070", "--fix", "--unsafe-fixes").status in (0, 1)
    fixed = Path("a.py").read_bytes()
    assert b"batch_size = 64" not in fixed
    assert fixed.count(b"\r\n") == fixed.count(b"\n") == 3


def test_on_windows_the_driver_s_spill_is_told_instead_of_an_error_alone() -> None:
    Path("a.py").write_text(GPT2, encoding="utf-8")
    spill = "on Windows the driver moves the excess to system memory"
    for platform in ("windows", "wsl"):
        assert spill in nanolint("a.py", "--gpu=rtx-4070", f"--platform={platform}").out
    assert spill not in nanolint("a.py", "--gpu=rtx-4070").out


def test_on_windows_a_run_is_taken_to_be_there_unless_said_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("a.py").write_text(GPT2, encoding="utf-8")
    spill = "on Windows the driver moves the excess to system memory"
    monkeypatch.setattr(targets, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.setattr(tables, "sys", SimpleNamespace(platform="win32"))
    here = nanolint("a.py", "--gpu=rtx-4070")
    assert spill in here.out
    assert "checked for Windows, the system of this machine" in here.out + here.err
    there = nanolint("a.py", "--gpu=rtx-4070", "--platform=linux")
    assert spill not in there.out
    assert "checked for Windows" not in there.out + there.err
    for system in ("linux", "darwin"):
        monkeypatch.setattr(targets, "sys", SimpleNamespace(platform=system))
        monkeypatch.setattr(tables, "sys", SimpleNamespace(platform=system))
        assert spill not in nanolint("a.py", "--gpu=rtx-4070").out
