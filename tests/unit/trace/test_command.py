"""``nanolint trace``: what it refuses before anything is run."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from nanolint.cli import trace
from nanolint.cli.parser import UsageError
from nanolint.cli.profile import with_value
from nanolint.trace.process import Request
from tests.support.command import nanolint

LINE = ("--", "python", "train.py")
EXPLODES = "open('exploded', 'w')\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("train.py").write_text(EXPLODES)
    return folder


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        (["train.py", "c.py"], ["train.py", "c.py", "--batch_size=4"]),
        (["train.py", "--batch_size=32", "--a=1"], ["train.py", "--batch_size=4", "--a=1"]),
        (["-m", "--batch_size", "32", "--a"], ["-m", "--batch_size", "4", "--a"]),
        (["train.py", "--batch_size_x=1"], ["train.py", "--batch_size_x=1", "--batch_size=4"]),
    ],
)
def test_a_value_is_tried_in_the_place_of_the_one_that_is_there(
    given: list[str], changed: list[str]
) -> None:
    assert with_value(given, "batch_size", "4") == changed


def test_where_nobody_can_be_asked_the_code_is_not_run() -> None:
    outcome = nanolint("trace", *LINE)
    assert outcome.status == 2 and "add --yes" in outcome.error


def test_another_system_is_told_that_it_needs_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "needs Linux" in nanolint("trace", *LINE).error


class Asked:
    """Streams of somebody at a terminal."""

    def __init__(self, answer: str) -> None:
        self.stdin = self.stderr = self
        self.answer, self.asked = answer, ""

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return self.answer

    def write(self, text: str) -> None:
        self.asked += text

    def flush(self) -> None:
        """Nothing is held back."""


def test_a_project_is_asked_for_once_and_again_without_protection(tmp_path: Path) -> None:
    folder = tmp_path / "pro\x1b[31mject"
    request = Request(f"{folder}/.venv/bin/python", ["train.py"], folder=folder)
    first = Asked("y\n")
    trace._ask(request, first, allowed=False)  # type: ignore[arg-type]
    shown = str(folder).replace("\x1b", "␛")
    assert f"runs the code of {shown} with its interpreter {shown}/.venv/bin/python" in first.asked
    assert "no network" in first.asked and "\x1b" not in first.asked
    again = Asked("never read")
    trace._ask(request, again, allowed=False)  # type: ignore[arg-type]
    assert again.asked == ""
    for changes in ({"protected": False}, {"folder": tmp_path}):
        another = Asked("n\n")
        with pytest.raises(UsageError, match="not run"):
            trace._ask(replace(request, **changes), another, allowed=False)  # type: ignore[arg-type]
        assert ("no network" in another.asked) is ("folder" in changes)


def test_the_projects_own_environment_is_found(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", "/active")
    assert trace._usual_python(project) == "/active/bin/python"
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "bin" / "python").touch()
    assert trace._usual_python(project / "config") == str(project / ".venv" / "bin" / "python")
