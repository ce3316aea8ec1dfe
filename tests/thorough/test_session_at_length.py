"""What the server knows of open documents, without a client.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.linting.engine import lint
from tests.support.project_tree import train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.lsp.session import Session

from tests.unit.lsp.test_session import BIG, SMALL, codes, opened, session, told


def test_the_text_that_is_open_counts_and_not_the_file(session: Session, tmp_path: Path) -> None:
    root = write_project(tmp_path, {"config/a.py": SMALL})
    document = opened(session, root / "config" / "a.py", BIG)
    assert "NL102" in codes(document)
    session.change(document.uri, SMALL)
    assert "NL102" not in codes(document)


def test_what_is_told_is_what_a_fresh_check_finds(session: Session, tmp_path: Path) -> None:
    document = opened(session, write_project(tmp_path) / "config" / "a.py", BIG)
    for text in ("batch_size = (\n", SMALL, "", BIG + "dtype = 'bf16'\n", "\0", BIG):
        session.change(document.uri, text)
        judged = document.judged
        assert judged is not None
        assert judged.report == lint(text, document.path, judged.setup)


def test_an_unsaved_train_script_changes_the_configs_that_read_it(
    session: Session, tmp_path: Path
) -> None:
    root = write_project(tmp_path / "project")
    config = opened(session, root / "config" / "a.py", "batch_size = 2\n")
    tool = opened(session, tmp_path / "elsewhere" / "tool.py", "print(1)\n")
    assert codes(config) == set()
    assert tool.judged is not None
    script = opened(session, root / "train.py", train_script())
    longer = train_script().replace("block_size = 1024", "block_size = 16384")
    assert session.change(script.uri, longer) == [config]
    assert codes(config) & {"NL101", "NL102"}
    assert session.close(script.uri) == [config]
    assert codes(config) == set()


def test_a_base_config_that_is_not_saved_yet(session: Session, tmp_path: Path) -> None:
    root = write_project(tmp_path, {"config/base.py": SMALL})
    text = "from config.base import *\nblock_size = 1024\n"
    child = opened(session, root / "config" / "child.py", text)
    assert codes(child) == set()
    base = opened(session, root / "config" / "base.py", BIG)
    assert child.current is None
    assert "NL102" in codes(child)
    session.change(base.uri, SMALL)
    assert codes(child) == set()


def test_what_nobody_told_is_seen_on_saving(session: Session, tmp_path: Path) -> None:
    root = write_project(tmp_path)
    config = opened(session, root / "config" / "a.py", SMALL)
    assert codes(config) == set()
    assert session.look_again() == []
    (root / "train.py").write_text(train_script().replace("n_embd = 768", "n_embd = 12288"))
    assert session.look_again() == [config]
    assert codes(config) & {"NL101", "NL102", "NL414"}


__all__ = ["session", "told"]  # fixtures
