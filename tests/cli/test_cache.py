"""The same command again is answered from the cache, and never with what is no longer true."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nanolint import targets
from nanolint.cli import answers, cache, session
from nanolint.gpus.local import LocalGpu
from nanolint.gpus.lookup import find
from tests.cli.command import Outcome, nanolint
from tests.project_tree import train_script, write_project

if TYPE_CHECKING:
    from collections.abc import Callable

CHECK = ("config", "--gpu=rtx-3060-12gb")
FOLDER = Path(cache.FOLDER)
CONFIG = """\
from config.base import *
batch_size = 16  # micro-batch
gradient_accumulation_steps = 4 * 8
dtype = 'bfloat16'
dataset = 'letters'
flavour = 2  # known to train.py
num_samples = 3  # known to sample.py
"""
TOOL = "import torch\nscaler = torch.cuda.amp.GradScaler()  # deprecated since PyTorch 2.4\n"
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.delenv(cache.VARIABLE, raising=False)
    files: dict[str, str | bytes] = {
        "config/a.py": CONFIG,
        "config/base.py": "block_size = 1024\n",
        "config/tool.py": TOOL,
        "train.py": train_script(extra_settings="flavour = 1\n"),
        "data/letters/meta.pkl": pickle.dumps({"vocab_size": 51200}),
        "requirements.txt": "torch==2.4\n",
    }
    return write_project(tmp_path, files)


def cached(*arguments: str) -> Outcome:
    return nanolint(*arguments, cached=True)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by one with each command that is really carried out."""
    commands: list[str] = []
    check_files = session.check_files

    def counted(*arguments: object) -> int:
        commands.append(str(arguments[0]))
        return check_files(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(session, "check_files", counted)
    return commands


def kept() -> list[Path]:
    return sorted(path for path in FOLDER.iterdir() if len(path.name) == 32)


@pytest.mark.parametrize("style", ["full", "concise", "json", "sarif"])
def test_the_second_answer_is_the_first_byte_for_byte(judged: list[str], style: str) -> None:
    command = (*CHECK, f"--output-format={style}", "--color=always")
    first = cached(*command)
    assert first.status == 1
    assert cached(*command) == first == nanolint(*command)
    assert len(judged) == 2  # the first, and the one without a cache


def test_what_is_told_on_stderr_is_told_again(judged: list[str]) -> None:
    first = cached("config")
    assert "no target GPU" in first.err
    assert cached("config") == first
    assert len(judged) == 1


def at(name: str) -> Callable[[str], Callable[[], object]]:
    def to(text: str) -> Callable[[], object]:
        def write() -> None:
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

        return write

    return to


def same_size_and_time() -> None:
    path = Path("config/a.py")
    before = path.stat()
    path.write_text(CONFIG.replace("16", "12"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def another_file_by_the_same_name() -> None:
    Path("config/a.py").rename("elsewhere.py")
    Path("config/a.py").symlink_to("../other.py")
    Path("other.py").write_text(CONFIG.replace("16", "2"))


CHANGES: dict[str, Callable[[], object]] = {
    "the config, keeping its size and time": same_size_and_time,
    "the config is a link now": another_file_by_the_same_name,
    "the config is gone": lambda: Path("config/a.py").unlink(),
    "the imported config": at("config/base.py")("block_size = 256\n"),
    "another config": at("config/b.py")("n_embd = 384\nn_head = 5\n"),
    "a config in a new folder": at("config/more/b.py")("n_embd = 384\nn_head = 5\n"),
    "a config that inherits": at("config/b.py")("from config.a import *\n"),
    "train.py": at("train.py")(train_script()),
    "train.py is gone": lambda: Path("train.py").unlink(),
    "a nearer train.py": at("config/train.py")(train_script()),
    "model.py, which was missing": at("model.py")("class GPT:\n    pass\n"),
    "a script with a configurator": at("sample.py")("dtypes = 1\nexec(open('configurator.py'))\n"),
    "the vocabulary": lambda: Path("data/letters/meta.pkl").write_bytes(
        pickle.dumps({"vocab_size": 5000})
    ),
    "no vocabulary": lambda: Path("data/letters/meta.pkl").unlink(),
    "the settings": at("nanolint.toml")('ignore = ["NL1"]\n'),
    "nearer settings": at("config/nanolint.toml")('in-use = "9GiB"\n'),
    "settings that are wrong": at("nanolint.toml")("gpu = 7\n"),
    "what git ignores": at(".gitignore")("config/a.py\n"),
    "PyTorch's version": at("requirements.txt")("torch==2.1\n"),
    "a repository that starts further down": lambda: Path("config/.git").mkdir(),
    "a lock file": at("config/uv.lock")('[[package]]\nname = "torch"\nversion = "2.1.0"\n'),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_seen(change: Callable[[], object]) -> None:
    before = cached(*CHECK)
    assert kept()
    change()
    after = cached(*CHECK)
    assert after == nanolint(*CHECK)
    assert after != before  # so that a stale answer would have been told


def test_a_change_to_one_of_many_files_is_seen(judged: list[str]) -> None:
    for number in range(120):  # enough for worker processes
        Path(f"config/c{number}.py").write_text(f"batch_size = 2\nblock_size = 64\n# {number}\n")
    first = cached(*CHECK)
    assert cached(*CHECK) == first
    assert len(judged) == 1
    Path("config/c77.py").write_text("n_embd = 384\nn_head = 5\n")
    after = cached(*CHECK)
    assert len(judged) == 2
    assert "config/c77.py" in after.out


def test_the_variable_that_names_a_card_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for card in ("rtx-3060-12gb", "h100", "rtx-3060-12gb"):
        monkeypatch.setenv("NANOLINT_GPU", card)
        assert cached("config") == nanolint("config")


def test_the_card_in_this_machine_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from nanolint.gpus import local

    answers = []
    for name in ("rtx-3060-12gb", "h100-80gb-sxm"):
        gpu = find(name).gpu
        card = LocalGpu(gpu, gpu.total_bytes)
        monkeypatch.setattr(targets, "_local_gpu", lambda card=card: card)
        monkeypatch.setattr(local, "may_have_card", lambda: True)
        monkeypatch.setattr(local, "local_gpu", lambda card=card: card)
        answers.append(cached("config"))
        assert cached("config") == answers[-1] == nanolint("config")
    assert answers[0] != answers[1]


def test_the_working_folder_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    cached("config/a.py", CHECK[1])
    monkeypatch.chdir("config")
    assert "--> a.py" in cached("a.py", CHECK[1]).out
    assert "--> ../config/a.py" in cached("../config/a.py", CHECK[1]).out
    assert "--> ../config/a.py" in cached("../config/a.py", CHECK[1]).out


def test_a_parent_folder_behind_a_link_is_the_one_that_the_system_finds(
    judged: list[str], tmp_path: Path
) -> None:
    (tmp_path / "deep" / "down").mkdir(parents=True)
    Path("link").symlink_to("deep/down")
    Path("deep/a.py").write_text(CONFIG)
    command = ("link/../a.py", CHECK[1])
    assert cached(*command) == cached(*command)
    assert len(judged) == 1
    Path("deep/a.py").write_text(CONFIG.replace("16", "12"))
    assert cached(*command) == nanolint(*command)


class TestFixing:
    def test_a_fix_is_never_answered_from_the_cache(self) -> None:
        cached(*CHECK)
        fixed = cached(*CHECK, "--fix")
        assert "Fixed config/a.py" in fixed.out
        assert "batch_size = 16" not in Path("config/a.py").read_text()
        assert cached(*CHECK) == nanolint(*CHECK)

    def test_after_a_fix_was_undone_the_old_findings_are_back(self) -> None:
        before = cached(*CHECK)
        cached("config/a.py", CHECK[1], "--fix")
        Path("config/a.py").write_text(CONFIG)
        assert cached(*CHECK) == before

    def test_what_a_command_writes_is_written_each_time(self) -> None:
        for option in ("--output-file", "--write-baseline"):
            cached(*CHECK, option, "written")
            Path("written").unlink()
            cached(*CHECK, option, "written")
            assert Path("written").stat().st_size

    def test_a_baseline_is_read_again(self) -> None:
        nanolint(*CHECK, "--write-baseline", "known.json")
        command = (*CHECK, "--baseline", "known.json")
        assert cached(*command).status == 0
        Path("known.json").write_text('{"version": 1, "findings": {}}')
        assert cached(*command).status == 1


class TestFolder:
    def test_it_hides_itself_from_git_and_from_backups(self) -> None:
        cached(*CHECK)
        assert (FOLDER / ".gitignore").read_text() == "*\n"
        assert (FOLDER / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d1")

    def test_without_it_if_asked(self, judged: list[str]) -> None:
        assert cached(*CHECK, "--no-cache") == cached(*CHECK, "--no-cache")
        assert len(judged) == 2
        assert not FOLDER.exists()

    @pytest.mark.parametrize("way", ["option", "variable"])
    def test_another_place(
        self, judged: list[str], monkeypatch: pytest.MonkeyPatch, way: str
    ) -> None:
        Path("mine").mkdir()
        Path("mine/notes.txt").write_text("keep me")
        command = CHECK if way == "variable" else (*CHECK, "--cache-dir=mine")
        if way == "variable":
            monkeypatch.setenv(cache.VARIABLE, "mine")
        assert cached(*command) == cached(*command)
        assert len(judged) == 1
        assert len(list(Path("mine").iterdir())) == 2  # the answer, and what was there
        assert not FOLDER.exists()

    def test_where_nothing_can_be_kept_all_goes_on(self) -> None:
        FOLDER.write_text("a file where the folder should be")
        assert cached(*CHECK) == cached(*CHECK) == nanolint(*CHECK)

    def test_it_stays_small_and_touches_nothing_else(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(answers, "MOST_FILES", 3)
        FOLDER.mkdir()
        (FOLDER / ("0" * 32 + ".77.tmp")).write_text("killed in the middle")
        (FOLDER / "a note of more than thirty-two characters").touch()
        for code in ("NL101", "NL102", "NL103", "NL201", "NL303"):
            cached(*CHECK, "--ignore", code)
        assert len(kept()) == 3
        assert len(list(FOLDER.iterdir())) == 4

    @pytest.mark.parametrize("option", ["--help", "-h", "--version", "-V"])
    def test_what_judges_nothing_makes_no_folder(self, option: str) -> None:
        cached("--quiet", option)
        assert not FOLDER.exists()

    def test_a_failure_is_not_kept(self) -> None:
        assert cached("missing.py").status == 2
        assert kept() == []


class TestDamage:
    @pytest.mark.parametrize("keep", [0, 1, 33, 34, 200, -1])
    def test_a_torn_answer_is_none(self, judged: list[str], keep: int) -> None:
        first = cached(*CHECK)
        (path,) = kept()
        path.write_bytes(path.read_bytes()[:keep])
        assert cached(*CHECK) == first
        assert len(judged) == 2

    def test_a_changed_answer_is_none(self) -> None:
        first = cached(*CHECK)
        (path,) = kept()
        path.write_bytes(path.read_bytes().replace(b"batch_size", b"BATCH_SIZE"))
        assert cached(*CHECK) == first

    def test_the_answer_to_another_question_is_none(self) -> None:
        cached(*CHECK)
        (clean,) = kept()
        content = clean.read_bytes()
        clean.unlink()
        command = (*CHECK, "--ignore=NL1")
        first = cached(*command)
        (path,) = kept()
        path.write_bytes(content)
        assert cached(*command) == first

    def test_two_at_once_do_not_disturb_each_other(self) -> None:
        path = os.pathsep.join((str(ROOT), str(ROOT / "rules")))
        environment = {**os.environ, "PYTHONPATH": path}
        command = (sys.executable, "-m", "nanolint", *CHECK)

        def start() -> subprocess.Popen[bytes]:
            return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)

        together = [process.communicate()[0] for process in [start(), start()]]
        again = start().communicate()[0]
        assert {*together, again} == {nanolint(*CHECK).out.encode()}
        assert len(kept()) == 1
        assert not list(FOLDER.glob("*.tmp"))
