"""What is read around a file is noted, so that an answer is never older than what it rests on."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from nanolint.errors import Unusable
from nanolint.files import door, notes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIMIT = 100


@pytest.fixture(autouse=True)
def _nothing_shown() -> Iterator[None]:
    yield
    for path in list(door._shown):
        door.show(Path(path), None)
    door.forget()


def ask(folder: Path) -> None:
    """One question of each kind, with answers good and bad."""
    door.kind(folder / "a.py")
    door.names(folder, "*.py")
    door.texts(folder / "config", "*.py", LIMIT, 10)
    for name in ("a.py", "missing.py"):
        with contextlib.suppress(Unusable):
            door.read_bytes(folder / name, LIMIT)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("a = 1\n")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "b.py").write_text("b = 1\n")
    return tmp_path


def test_what_was_read_stays_true_while_nothing_changes(folder: Path) -> None:
    with notes.noting() as reads:
        ask(folder)
    assert len(reads) == 5
    (folder / "notes.txt").write_text("of no concern")
    assert notes.unchanged(reads)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda at: (at / "a.py").write_text("a = 2\n"), id="a content"),
        pytest.param(lambda at: (at / "a.py").unlink(), id="a file removed"),
        pytest.param(lambda at: (at / "missing.py").write_text(""), id="a file that was missing"),
        pytest.param(lambda at: (at / "config" / "b.py").write_text("b = 2\n"), id="a neighbour"),
        pytest.param(lambda at: (at / "config" / "c.py").touch(), id="one more neighbour"),
        pytest.param(lambda at: (at / "config").rename(at / "gone"), id="a folder removed"),
    ],
)
def test_a_change_to_anything_that_was_read_is_seen(
    folder: Path, change: Callable[[Path], object]
) -> None:
    with notes.noting() as reads:
        ask(folder)
    change(folder)
    assert not notes.unchanged(reads)


def test_a_change_that_keeps_size_and_time_is_seen(folder: Path) -> None:
    path = folder / "a.py"
    before = path.stat()
    with notes.noting() as reads:
        door.read_bytes(path, LIMIT)
    path.write_text("a = 2\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not notes.unchanged(reads)


def test_unsaved_text_wins_over_the_disk(folder: Path) -> None:
    path = folder / "a.py"
    with notes.noting() as reads:
        door.read_bytes(path, LIMIT)
    door.show(path, b"a = 3\n")
    assert door.read_bytes(path, LIMIT) == b"a = 3\n"
    assert not notes.unchanged(reads)
    door.show(path, None)
    assert door.read_bytes(path, LIMIT) == b"a = 1\n"
    assert notes.unchanged(reads)


def test_a_file_that_is_not_saved_yet_is_there(folder: Path) -> None:
    door.show(folder / "new.py", b"")
    assert door.is_file(folder / "new.py")
    assert door.names(folder, "*.py") == ("a.py", "new.py")


def test_unsaved_text_is_bounded_too(folder: Path) -> None:
    door.show(folder / "a.py", b"x" * (LIMIT + 1))
    with pytest.raises(Unusable, match="larger than 100 bytes"):
        door.read_bytes(folder / "a.py", LIMIT)


def test_a_memo_is_kept_until_what_it_read_is_forgotten(folder: Path) -> None:
    calls = []

    @notes.memo
    def content(path: Path) -> bytes:
        calls.append(path.name)
        return door.read_bytes(path, LIMIT)

    content(folder / "a.py")
    content(folder / "a.py")
    door.forget(folder / "config" / "b.py")
    content(folder / "a.py")
    assert calls == ["a.py"]
    door.forget(folder / "a.py")
    content(folder / "a.py")
    assert calls == ["a.py", "a.py"]


def test_a_memo_does_not_keep_what_another_thread_has_had_forgotten_meanwhile(folder: Path) -> None:
    @notes.memo
    def content(path: Path) -> bytes:
        found = door.read_bytes(path, LIMIT)
        if found == b"a = 1\n":
            path.write_bytes(b"a = 2\n")
            door.forget(path)
        return found

    (folder / "a.py").write_bytes(b"a = 1\n")
    assert content(folder / "a.py") == b"a = 1\n"
    assert content(folder / "a.py") == b"a = 2\n"


def test_what_stands_for_a_file_in_a_block_does_so_for_its_thread_alone(folder: Path) -> None:
    supposed = {folder / "a.py": b"a = 2\n", folder / "c.py": b"c = 1\n"}
    elsewhere: list[object] = []

    def look() -> None:
        elsewhere.extend((door.read_bytes(folder / "a.py"), door.names(folder, "*.py")))

    with door.instead(supposed):
        thread = Thread(target=look)
        thread.start()
        thread.join()
        assert door.read_bytes(folder / "a.py") == b"a = 2\n"
        assert door.names(folder, "*.py") == ("a.py", "c.py")
        assert door.is_file(folder / "c.py")
        with door.instead({folder / "a.py": b"a = 3\n"}):
            assert door.read_bytes(folder / "a.py") == b"a = 3\n"
            assert door.is_file(folder / "c.py")
        assert door.read_bytes(folder / "a.py") == b"a = 2\n"
    assert elsewhere == [b"a = 1\n", ("a.py",)]
    assert door.read_bytes(folder / "a.py") == b"a = 1\n"
    assert not door.is_file(folder / "c.py")


def test_a_memo_keeps_what_follows_from_such_a_file_for_the_block_alone(folder: Path) -> None:
    calls = []

    @notes.memo
    def lines(name: str) -> list[bytes]:
        calls.append(name)
        return door.read_bytes(folder / name).splitlines()

    def both() -> list[list[bytes]]:
        return [lines("a.py"), lines("config/b.py")]

    assert both() == [[b"a = 1"], [b"b = 1"]]
    with door.instead({folder / "a.py": b"a = 2\n"}):
        assert both() == both() == [[b"a = 2"], [b"b = 1"]]
    assert both() == [[b"a = 1"], [b"b = 1"]]
    assert calls == ["a.py", "config/b.py", "a.py"]


def test_a_memo_tells_what_it_read_each_time(folder: Path) -> None:
    @notes.memo
    def listed(path: Path) -> tuple[str, ...]:
        return door.names(path, "*.py")

    with notes.noting() as first:
        listed(folder)
    with notes.noting() as outer, notes.noting() as second:
        listed(folder)
    assert first == second == outer != {}


def test_a_new_file_makes_a_listing_forgotten(folder: Path) -> None:
    @notes.memo
    def listed(path: Path) -> tuple[str, ...]:
        return door.names(path, "*.py")

    listed(folder)
    (folder / "c.py").touch()
    door.forget(folder / "c.py")
    assert listed(folder) == ("a.py", "c.py")


def test_kinds(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "dangling").symlink_to(folder / "nowhere")
    (folder / "loop").symlink_to(folder / "loop")
    assert door.kind(folder / "a.py") == door.FILE
    assert door.kind(folder / "config") == door.FOLDER
    assert door.kind(folder / "pipe") == door.OTHER
    assert door.kind(folder / "dangling") == door.BROKEN_LINK
    assert door.kind(folder / "loop") == door.BROKEN_LINK
    assert door.kind(folder / "a.py" / "below a file") == door.NOTHING
    assert door.kind(folder / "\0") == door.UNKNOWN
    assert door.names(folder / "gone") == ()
