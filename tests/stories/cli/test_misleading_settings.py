"""Settings that contradict each other or match nothing get a line that says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli_configs import SMALL, write
from tests.support.command import nanolint

TABLE = '[[target]]\ngpu = "rtx-3060-12gb"\nfiles = {files}\n'


@pytest.mark.parametrize("files", ['["nomatch/*.py"]', '["../*.py"]', '["/abs/*.py"]'])
def test_targets_whose_files_match_nothing(files: str) -> None:
    write("config/a.py", SMALL)
    write("config/b.py", SMALL)
    Path("nanolint.toml").write_text(TABLE.format(files=files))
    outcome = nanolint("config")
    assert outcome.error.endswith(
        "nanolint: no target GPU for config/a.py and 1 other file, so the memory and GPU rules "
        f"are off: the targets in {Path.cwd()}/nanolint.toml apply only to files that match "
        f"{files[2:-2]}"
    )


def test_a_star_stays_within_one_folder() -> None:
    write("config/a.py", SMALL)
    write("config/sub/b.py", SMALL)
    text = TABLE.format(files='["config/*.py"]') + '[[target]]\ngpu = "a100-80gb"\n'
    Path("nanolint.toml").write_text(text)
    runs = json.loads(nanolint("config", "--output-format=json-full").out)["runs"]
    assert [(run["file"], run["gpu"]) for run in runs] == [
        ("config/a.py", "RTX 3060 12GB"),
        ("config/sub/b.py", "A100 80GB"),
    ]


def test_a_count_that_contradicts_the_name() -> None:
    write("a.py", SMALL)
    Path("nanolint.toml").write_text('[[target]]\ngpu = "8xrtx-3060"\ncount = 4\n')
    outcome = nanolint("a.py")
    assert outcome.status == 2
    assert outcome.error.endswith(
        "target.0.count: 4 does not go with 8x RTX 3060 12GB; give only one of them"
    )


@pytest.mark.parametrize("command", ["check", "explain", "fit", "settings"])
def test_isolated_beside_a_settings_file(command: str) -> None:
    write("a.py", SMALL)
    outcome = nanolint(command, "a.py", "--isolated", "--config=x.toml")
    assert outcome.status == 2
    assert "not allowed with argument" in outcome.error


def test_settings_of_a_path_that_does_not_exist() -> None:
    outcome = nanolint("settings", "nope")
    assert (outcome.status, outcome.error) == (2, "nanolint: no such file or folder: nope")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            b'[tool.nanolint]\ngpu = "rtx-4070"\n',
            ": leave out [tool.nanolint]; in this file the keys need no table",
        ),
        (
            b'\xef\xbb\xbfgpu = "rtx-4070"\n',
            ": it begins with a byte order mark, which TOML forbids; save it without one",
        ),
    ],
)
def test_a_settings_file_that_is_nearly_right(content: bytes, told: str) -> None:
    write("a.py", SMALL)
    Path("nanolint.toml").write_bytes(content)
    outcome = nanolint("a.py")
    assert outcome.status == 2
    assert outcome.error.endswith(told)


def test_control_characters_of_arguments_are_not_obeyed() -> None:
    write("a.py", SMALL)
    for arguments in (("a.py", "--config=\x1b[2Jx.toml"), ("launch", "--", "python", "\x1bx.py")):
        outcome = nanolint(*arguments)
        assert outcome.status == 2
        assert "\x1b" not in outcome.err
        assert "␛" in outcome.err
