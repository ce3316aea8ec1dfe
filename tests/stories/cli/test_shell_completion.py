"""What the shells complete, asked of the shells themselves where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from nanolint.settings.formats import FORMATS
from tests.support.command import nanolint

if TYPE_CHECKING:
    from pathlib import Path


def completed(*words: str) -> list[str]:
    """What bash offers for the last of ``words``."""
    script = nanolint("completion", "bash").out
    quoted = " ".join(f"'{word}'" for word in words)
    asked = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _nanolint"
    told = subprocess.run(
        ["bash", "--norc", "-c", f'{script}\n{asked}\nprintf "%s\\n" "${{COMPREPLY[@]}}"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stderr == ""
    return told.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
class TestBash:
    def test_commands(self) -> None:
        assert completed("nanolint", "ex") == ["explain"]
        assert completed("nanolint", "a.py", "ex") == []

    def test_options(self) -> None:
        assert completed("nanolint", "a.py", "--unsafe") == ["--unsafe-fixes"]

    def test_each_command_has_its_own_options(self) -> None:
        assert completed("nanolint", "explain", "--pl") == ["--plot", "--platform"]
        assert completed("nanolint", "explain", "a.py", "--fi") == []
        assert completed("nanolint", "trace", "--prof") == ["--profile"]

    def test_cards_rules_and_keys(self) -> None:
        cards = completed("nanolint", "--gpu", "rtx-40")
        assert "rtx-4070" in cards and "rtx-4090" in cards
        assert "rtx-3060-12gb" in completed("nanolint", "fit", "--gpu", "rtx-3060")
        assert completed("nanolint", "--select", "NL10") == [
            *("NL101", "NL102", "NL103", "NL104", "NL105")
        ]
        assert completed("nanolint", "rule", "thin") == ["thin-margin"]
        assert completed("nanolint", "--set", "batch") == ["batch_size="]
        assert completed("nanolint", "--gpu=rtx-409") == [  # zsh
            "--gpu=rtx-4090-laptop",
            "--gpu=rtx-4090-d",
            "--gpu=rtx-4090",
        ] or "--gpu=rtx-4090" in completed("nanolint", "--gpu=rtx-409")

    def test_every_card_that_is_offered_is_understood(self) -> None:
        from nanolint.cli.completion import _cards
        from nanolint.gpus.lookup import find

        for name in _cards():
            assert "-".join(find(name).gpu.name.lower().split()) == name

    def test_choices(self) -> None:
        expected = ["full"]
        assert completed("nanolint", "--output-format", "fu") == expected
        assert completed("nanolint", "--output-format", "=", "fu") == expected
        assert sorted(completed("nanolint", "--output-format", "=")) == sorted(FORMATS)
        assert completed("nanolint", "--output-format=fu") == ["--output-format=full"]  # zsh


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_can_read_its_script(shell: str) -> None:
    outcome = nanolint("completion", shell)
    assert outcome.status == 0
    assert "output-format" in outcome.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=outcome.out, text=True, check=True)


def test_wrong_usage() -> None:
    assert nanolint("completion", "tcsh").status == 2
    assert nanolint("completion").status == 2


def offered_by_fish(typed: str, folder: Path) -> list[str]:
    """What fish offers for a line, without the descriptions."""
    script = folder / "nanolint.fish"
    script.write_text(nanolint("completion", "fish").out, encoding="utf-8")
    asked = subprocess.run(
        ["fish", "--no-config", "-c", f"source {script}; complete -C '{typed}'"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert asked.stderr == ""
    return [line.partition("\t")[0] for line in asked.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("nanolint expl", ["explain"]),
        ("nanolint explain --pl", ["--platform", "--plot"]),
        ("nanolint rule thin", ["thin-margin"]),
        ("nanolint --set batch", ["batch_size="]),
        ("nanolint --output-format fu", ["full"]),
    ],
)
def test_fish_completes(typed: str, offered: list[str], tmp_path: Path) -> None:
    assert offered_by_fish(typed, tmp_path) == offered


def completed_by_zsh(typed: str, folder: Path) -> str:
    """The line in an interactive zsh after it was typed and the tabulator pressed."""
    import pty  # not on Windows

    (folder / ".zshrc").write_text(
        f"PS1='> '\nautoload -Uz compinit && compinit -u -d {folder}/dump\n"
        + nanolint("completion", "zsh").out
        + "\nshown() { print -r -- \"<<$BUFFER>>\" }\nzle -N shown\nbindkey '^X' shown\n"
    )
    process, terminal = pty.fork()
    if process == 0:
        os.environ |= {"TERM": "dumb", "ZDOTDIR": str(folder), "COLUMNS": "200"}
        os.execvp("zsh", ["zsh", "-d", "-i"])
    with os.fdopen(terminal, "r+b", buffering=0) as stream:
        received = stream.read(1024)
        while b"> " not in received:
            received += stream.read(1024)
        stream.write(f"{typed}\t\x18".encode())
        while b">>" not in received:
            received += stream.read(1024)
    os.waitpid(process, 0)
    return received.partition(b"<<")[2].partition(b">>")[0].decode()


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("nanolint expl", "nanolint explain "),
        ("nanolint explain --plo", "nanolint explain --plot "),
        ("nanolint rule thin", "nanolint rule thin-margin "),
        ("nanolint --output-format=fu", "nanolint --output-format=full "),
        ("nanolint fit --gpu rtx-4090-l", "nanolint fit --gpu rtx-4090-laptop "),
    ],
)
def test_zsh_completes(typed: str, line: str, tmp_path: Path) -> None:
    assert completed_by_zsh(typed, tmp_path) == line
