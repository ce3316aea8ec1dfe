"""What is kept between two commands: found again whole, by the same build only, within bounds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from nanolint.files import cache

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def kept_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As an installed wheel has it, in a folder of this test."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_build", lambda: "one build")
    return tmp_path / "cache"


def files(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file()]


def test_what_is_kept_is_found_by_its_name_alone() -> None:
    cache.keep("one", b"first")
    cache.keep("other", b"second")
    cache.keep("one", b"third")
    assert (cache.find("one"), cache.find("other")) == (b"third", b"second")
    assert cache.find("another") is None


def test_another_build_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.keep("one", b"first")
    monkeypatch.setattr(cache, "_build", lambda: "another build")
    assert cache.find("one") is None


def test_a_checkout_keeps_nothing(kept_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv(cache.VARIABLE, str(kept_in))
    cache.keep("one", b"first")
    assert not cache.keeps() and cache.find("one") is None and not kept_in.exists()


def test_an_empty_name_keeps_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(cache.VARIABLE, "")
    monkeypatch.chdir(tmp_path)
    cache.keep("one", b"first")
    assert not cache.keeps() and cache.find("one") is None and not files(tmp_path)


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 64])
def test_a_damaged_file_counts_as_none(kept_in: Path, damage: bytes) -> None:
    cache.keep("one", b"first")
    (file,) = files(kept_in)
    file.write_bytes(damage)
    assert cache.find("one") is None
    cache.keep("one", b"first")
    assert cache.find("one") == b"first"


def test_a_place_that_cannot_be_written_is_no_error(kept_in: Path) -> None:
    kept_in.write_text("a file where the folder would be")
    cache.keep("one", b"first")
    assert cache.find("one") is None


def test_what_was_used_least_lately_goes_first(
    kept_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MOST_BYTES", 3 * cache.LEAST_BYTES)
    place = kept_in / "readings" / "ab"
    monkeypatch.setattr(cache, "_path", lambda name: place / name)
    for at, name in enumerate(("one", "two", "three")):
        cache.keep(name, b"x" * 60)
        os.utime(place / name, (at, at))
    assert cache.find("one")  # used now, two is not
    cache.keep("four", b"x" * 60)
    assert sorted(each.name for each in files(kept_in)) == ["four", "one", "three"]
    cache.keep("large", b"x" * 4 * cache.LEAST_BYTES)
    assert [each.name for each in files(kept_in)] == ["large"]


def test_lines_are_found_in_their_order() -> None:
    for line in (b"first", b"second"):
        cache.add_line("one", line)
    assert cache.lines("one") == [b"first", b"second"]
    assert cache.lines("another") == []


@pytest.mark.parametrize("damage", [b"\nno digest", b"\n", b"\xff", b"\n" + b"0" * 64 + b" third"])
def test_a_damaged_line_costs_no_other(kept_in: Path, damage: bytes) -> None:
    cache.add_line("one", b"first")
    (file,) = files(kept_in)
    file.write_bytes(damage + file.read_bytes())
    cache.add_line("one", b"second")
    assert cache.lines("one") == [b"first", b"second"]


def test_a_line_that_was_cut_off_costs_no_later_one(kept_in: Path) -> None:
    cache.add_line("one", b"first")
    (file,) = files(kept_in)
    file.write_bytes(file.read_bytes()[:-2])
    cache.add_line("one", b"second")
    assert cache.lines("one") == [b"second"]


def test_lines_do_not_grow_without_end(kept_in: Path) -> None:
    for number in range(100):
        cache.add_line("one", b"%d " % number + b"x" * 1000)
    (file,) = files(kept_in)
    assert file.stat().st_size < cache.MOST_LINES_BYTES + 2000
    assert cache.lines("one")[-1].startswith(b"99 ")


def test_lines_that_cannot_be_kept_are_no_error(kept_in: Path) -> None:
    kept_in.write_text("a file")
    cache.add_line("one", b"first")
    assert cache.lines("one") == [] and not cache.has("one")


@pytest.mark.skipif(os.name == "nt", reason="Windows has another variable")
def test_a_relative_folder_of_the_environment_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    for name in (".cache", "", None):
        if name is None:
            monkeypatch.delenv("XDG_CACHE_HOME")
        else:
            monkeypatch.setenv("XDG_CACHE_HOME", name)
        assert cache.usual_folder().as_posix() == "/home/somebody/.cache/nanolint"
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert cache.usual_folder().as_posix() == "/elsewhere/nanolint"
