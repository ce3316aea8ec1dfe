"""Files: which are found, what is refused, and that writing is all or nothing."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from nanolint.errors import Unusable
from nanolint.files import writing
from nanolint.files.door import read_bytes
from nanolint.files.writing import Unwritable, replace
from nanolint.linting.discovery import discover
from nanolint.settings.schema import Sourced
from nanolint.settings.tables import Settings
from tests.support.command import nanolint

posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX file system")
unprivileged = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read and write everything"
)


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("batch_size = 8\n", encoding="utf-8")


def left() -> list[str]:
    """The names in the working folder."""
    return sorted(path.name for path in Path().iterdir())


def found(
    *arguments: str, settings: Settings | None = None, force_exclude: bool = False
) -> list[str]:
    sourced = Sourced(settings or Settings(), file=Path.cwd() / "nanolint.toml")
    discovery = discover(arguments, lambda _: sourced, force_exclude=force_exclude)
    assert not discovery.problems
    return [Path(candidate.name).as_posix() for candidate in discovery.candidates]


class TestDiscovery:
    def test_folders_hold_python_files_in_order(self) -> None:
        make("b.py", "config/z.py", "config/a.py", "config/notes.txt", "a.py")
        assert found(".") == ["a.py", "b.py", "config/a.py", "config/z.py"]

    def test_a_file_counts_once_whatever_names_lead_to_it(self) -> None:
        make("config/a.py")
        Path("link.py").symlink_to("config/a.py")
        assert found("config/a.py", "./config/a.py", "config", "link.py") == ["config/a.py"]

    def test_named_files_need_no_suffix(self) -> None:
        make("settings.txt")
        assert found("settings.txt") == ["settings.txt"]

    def test_links_to_folders_are_not_followed(self) -> None:
        make("config/a.py")
        Path("config/loop").symlink_to("..", target_is_directory=True)
        assert found(".") == ["config/a.py"]

    def test_excluded_folders(self) -> None:
        make("a.py", ".venv/b.py", "build/c.py", "old/d.py", "config/old.py")
        assert found(".", settings=Settings(extend_exclude=("old", "config/o*"))) == ["a.py"]

    def test_a_named_file_is_judged_though_excluded(self) -> None:
        make("build/deep/c.py")
        assert found("build/deep/c.py") == ["build/deep/c.py"]
        assert found("build/deep/c.py", force_exclude=True) == []

    @posix
    def test_what_is_no_file_is_passed_over_in_folders(self) -> None:
        make("a.py")
        os.mkfifo("pipe.py")
        Path(".#lock.py").symlink_to("nobody@nowhere")
        Path("folder.py").mkdir()
        assert found(".") == ["a.py"]

    @pytest.mark.parametrize("name", ["gone.py", "nul\0.py", "a.py/b.py"])
    def test_what_does_not_exist_is_told(self, name: str) -> None:
        make("a.py")
        discovery = discover([name, "a.py"], lambda _: Sourced())
        assert [problem[0] for problem in discovery.problems] == [name]
        assert len(discovery.candidates) == 1


class TestGitignore:
    def test_what_git_ignores_is_left_out(self) -> None:
        make("a.py", "out/b.py", "config/generated.py", "config/c.py")
        Path(".gitignore").write_text("/out\ngenerated.py\n", encoding="utf-8")
        assert found(".") == ["a.py", "config/c.py"]

    def test_an_inner_file_overrules_an_outer_one(self) -> None:
        make("config/a.py", "config/b.py")
        Path(".gitignore").write_text("*.py\n", encoding="utf-8")
        Path("config/.gitignore").write_text("!a.py\n", encoding="utf-8")
        assert found(".") == ["config/a.py"]

    def test_files_above_count_up_to_the_repository(self) -> None:
        make("repository/config/a.py", "repository/config/b.py")
        Path("repository/.git").mkdir()
        Path(".gitignore").write_text("a.py\n", encoding="utf-8")
        Path("repository/.gitignore").write_text("b.py\n", encoding="utf-8")
        assert found("repository/config") == ["repository/config/a.py"]


class TestReading:
    def test_bytes_as_they_are(self) -> None:
        Path("a.py").write_bytes(b"\xef\xbb\xbfa = 1\r\n")
        assert read_bytes(Path("a.py")) == b"\xef\xbb\xbfa = 1\r\n"

    @posix
    def test_a_pipe_is_refused_without_waiting(self) -> None:
        os.mkfifo("pipe.py")
        with pytest.raises(Unusable, match="a named pipe"):
            read_bytes(Path("pipe.py"))

    @posix
    def test_a_device_is_refused(self) -> None:
        with pytest.raises(Unusable, match="a device"):
            read_bytes(Path("/dev/zero"))

    @posix
    def test_a_socket_is_refused(self) -> None:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("s.py")
            with pytest.raises(Unusable):
                read_bytes(Path("s.py"))

    def test_a_folder_is_refused(self) -> None:
        with pytest.raises(Unusable, match="directory"):
            read_bytes(Path())

    def test_a_file_that_vanished(self) -> None:
        with pytest.raises(Unusable, match="no such file"):
            read_bytes(Path("gone.py"))

    @unprivileged
    def test_a_file_that_may_not_be_read(self) -> None:
        make("secret.py")
        Path("secret.py").chmod(0)
        with pytest.raises(Unusable, match="permission denied"):
            read_bytes(Path("secret.py"))

    def test_a_file_that_is_too_large(self) -> None:
        with Path("big.py").open("wb") as file:
            file.truncate((1 << 20) + 1)
        with pytest.raises(Unusable, match="larger than 1 MiB"):
            read_bytes(Path("big.py"), 1 << 20)


class TestWriting:
    def test_the_content_is_replaced_and_the_mode_kept(self) -> None:
        path = Path("a.py")
        path.write_bytes(b"old")
        path.chmod(0o754)
        replace(path, b"new", expected=b"old")
        assert path.read_bytes() == b"new"
        assert stat.S_IMODE(path.stat().st_mode) == 0o754
        assert left() == ["a.py"]

    def test_links_stay_links(self) -> None:
        Path("real").mkdir()
        make("real/a.py")
        Path("link.py").symlink_to("real/a.py")
        replace(Path("link.py"), b"new", expected=b"batch_size = 8\n")
        assert Path("link.py").is_symlink()
        assert Path("real/a.py").read_bytes() == b"new"

    def test_a_file_that_changed_meanwhile_is_left_alone(self) -> None:
        path = Path("a.py")
        path.write_bytes(b"edited in the meantime")
        with pytest.raises(Unwritable, match="changed while it was checked"):
            replace(path, b"new", expected=b"old")
        assert path.read_bytes() == b"edited in the meantime"
        assert left() == ["a.py"]

    def test_a_file_that_vanished_meanwhile_is_not_made_again(self) -> None:
        with pytest.raises(Unwritable):
            replace(Path("gone.py"), b"new", expected=b"old")
        assert left() == []

    @pytest.mark.parametrize("failing", ["os.fsync", "tempfile.mkstemp"])
    def test_a_full_disk_leaves_everything_as_it_was(
        self, failing: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(failing, fail)
        Path("a.py").write_bytes(b"old")
        with pytest.raises(Unwritable, match="no space left"):
            replace(Path("a.py"), b"new", expected=b"old")
        assert Path("a.py").read_bytes() == b"old"
        assert left() == ["a.py"]

    @unprivileged
    def test_a_read_only_file_is_refused(self) -> None:
        make("a.py")
        Path("a.py").chmod(0o444)
        with pytest.raises(Unwritable, match="read-only"):
            replace(Path("a.py"), b"new", expected=b"batch_size = 8\n")

    def test_an_interruption_leaves_nothing_behind(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupt(_: Path) -> bytes:
            raise KeyboardInterrupt

        monkeypatch.setattr(writing, "read_bytes", interrupt)
        Path("a.py").write_bytes(b"old")
        with pytest.raises(KeyboardInterrupt):
            replace(Path("a.py"), b"new", expected=b"old")
        assert left() == ["a.py"]


FAILING = "batch_size = 64\ngradient_accumulation_steps = 8\n"
FIX = ("--gpu", "rtx-3060", "--select", "NL1", "--fix", "--unsafe-fixes")


@posix
def test_a_link_out_of_the_project_is_not_written_through(tmp_path: Path) -> None:
    outside = tmp_path / "other.py"
    outside.write_text(FAILING)
    inside = tmp_path / "checkout" / "config"
    inside.mkdir(parents=True)
    (inside.parent / ".git").mkdir()
    (inside / "a.py").symlink_to(outside)
    for named in (str(inside.parent), str(inside / "a.py")):
        outcome = nanolint(*FIX, named)
        assert outcome.status == 2
        assert f"the link leads out of the project; name {outside} itself" in outcome.err
        assert outside.read_text() == FAILING
    assert nanolint(*FIX, str(outside)).status == 0
    assert "batch_size = 8\n" in outside.read_text()


@posix
def test_a_file_of_two_names_is_not_parted_from_itself(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text(FAILING)
    os.link(first, second)
    outcome = nanolint(*FIX, str(first))
    assert (outcome.status, first.read_text()) == (2, FAILING)
    assert "not fixed: the file has 2 names (hard links)" in outcome.err
    assert first.samefile(second)
