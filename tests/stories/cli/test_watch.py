"""``--watch``: the report is written again when something it came from has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from nanolint.cli import watch
from tests.support.cli_configs import CONCISE, HEADS, write
from tests.support.command import nanolint


@pytest.fixture
def edits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is written to files while nanolint waits; after the last one it is interrupted."""
    pending: list[tuple[str, str]] = []

    def sleep(_seconds: float) -> None:
        if not pending:
            raise KeyboardInterrupt
        write(*pending.pop(0))

    monkeypatch.setattr(watch, "sleep", sleep)
    return pending


def test_a_change_is_judged_at_once(edits: list[tuple[str, str]]) -> None:
    write("config/a.py", HEADS)
    edits += [("config/a.py", HEADS.replace("384", "385")), ("config/b.py", HEADS)]
    outcome = nanolint("config", CONCISE, "-q", "--watch")
    assert outcome.status == 130
    # Folders around the project are looked at too, so it may be judged once more than is needed.
    seen = outcome.out.splitlines()
    assert "n_embd = 384" in seen[0]
    assert any(line.startswith("config/a.py") and "n_embd = 385" in line for line in seen)
    assert seen[-1].startswith("config/b.py"), "a new file"


def test_wrong_usage() -> None:
    assert nanolint("--watch", "--fix", "a.py").status == 2
    assert nanolint("--watch", "-").status == 2
    assert not Path("a.py").exists()
