"""Wrong usage and unreadable input: one clear line each, status 2, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import nanolint

CLEAN = b"batch_size = 2\nblock_size = 64\n"
FINDING = b"n_embd = 384\nn_head = 5\nbatch_size = 2\n"


@pytest.mark.parametrize("key", ["batch-size", "--batch-size", "batch_size"])
def test_a_key_is_set_as_the_flag_or_as_the_name_is_spelled(key: str) -> None:
    Path("a.py").write_bytes(CLEAN)
    told = nanolint("explain", "a.py", f"--set={key}=3").out
    assert any(row.split()[:2] == ["batch_size", "3"] for row in told.splitlines())


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--gppu", "x"], "unknown option --gppu; did you mean --gpu? (see `nanolint --help`)"),
        (["--gpu"], "argument --gpu: expected one argument (see `nanolint --help`)"),
        (["a.py", "--gpu", "rtx9999"], "--gpu: unknown GPU 'rtx9999'; "),
        (["a.py", "--gpu", "9999999999999999999GiB"], "--gpu: unknown GPU '9999999999999999999GiB"),
        (
            ["a.py", "--gpu", "auto"],
            "--gpu: auto needs an NVIDIA card and its driver, and found none",
        ),
        (["a.py", "--in-use", "much", "--gpu", "12GB"], "--in-use: 'much' is not a size; "),
        (
            ["a.py", "--in-use", "900GiB", "--gpu", "rtx-3070"],
            "--in-use: 900GiB leaves nothing for the run: RTX 3070 has 7.57 GiB in all",
        ),
        (["a.py", "--select", "NL9999"], "--select: unknown rule 'NL9999'"),
        (["a.py", "--ignore", "predicted-oo"], "--ignore: unknown rule 'predicted-oo'; did you "),
        (["a.py", "--per-file-ignores", "x"], "--per-file-ignores: expected PATTERN:RULE, found"),
        (["a.py", "--per-file-ignores", "x:NL9999"], "--per-file-ignores: unknown rule 'NL9999'"),
        (["a.py", "--world-size", "0"], "argument --world-size: '0' is not a whole number above 0"),
        (
            ["a.py", "--gpu=3xRTX3070", "--world-size=2"],
            "--world-size: 2 does not go with 3x RTX 3070; give only one of them",
        ),
        (["a.py", "--torch-version", "new"], "argument --torch-version: 'new' is not a version"),
        (["a.py", "--platform=macos", "--gpu=t4"], "--platform: macOS has no CUDA"),
        (["a.py", "--platform", "beos"], "argument --platform: invalid choice: 'beos'"),
        (["a.py", "--set", "batch_size"], "--set: expected KEY=VALUE, found batch_size"),
        (["--", "a.py", "--batch_size"], "after --: nanoGPT needs a value: --batch_size=VALUE"),
        (["a.py", "--train-script", "gone.py"], "--train-script: no such file: gone.py"),
        (["a.py", "--config", "gone.toml"], "gone.toml: no such file"),
        (["a.py", "--output-file", "gone/x"], "--output-file: gone/x: no such file or directory"),
        (["-", "a.py"], "- (standard input) cannot be checked together with files"),
        (["a.py", "--stdin-filename", "b.py"], "--stdin-filename needs - (standard input)"),
        (["rule", "NL9999"], "unknown rule 'NL9999'"),
        (["rule", "NL101", "--all"], "--all prints every page; leave out the rule"),
        (["gpus", "rtx9999"], "unknown GPU 'rtx9999'"),
        (["explain"], "explain takes one FILE, found 0 (see `nanolint explain --help`)"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], line: str) -> None:
    Path("a.py").write_bytes(CLEAN)
    outcome = nanolint(*arguments)
    assert outcome.error.startswith(f"nanolint: {line}")
    assert outcome.status == 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("gpu = [", "nanolint.toml: not valid TOML: "),
        ("gpus = 'x'", "nanolint.toml: unknown key 'gpus'; did you mean 'gpu'?"),
        ("gpu = 'rtx9999'", "nanolint.toml: gpu: unknown GPU 'rtx9999'"),
        ("select = ['NL9999']", "nanolint.toml: select: unknown rule 'NL9999'"),
        ("severity = {NL9999 = 'info'}", "nanolint.toml: severity: unknown rule 'NL9999'"),
        ("train-script = 'gone.py'", "nanolint.toml: train-script: no such file: "),
        (
            "gpu = '3xRTX3070'\nworld-size = 2",
            "nanolint.toml: world-size: 2 does not go with 3x RTX 3070; give only one of them",
        ),
    ],
)
def test_broken_settings_are_one_line(text: str, line: str) -> None:
    Path("a.py").write_bytes(CLEAN)
    Path("nanolint.toml").write_text(text, encoding="utf-8")
    outcome = nanolint("a.py")
    assert outcome.status == 2
    assert line in outcome.error


class TestUnusable:
    """Each bad file costs one line and status 2; the good one beside it is still judged."""

    def judge(self, name: str) -> str:
        Path("good.py").write_bytes(FINDING)
        outcome = nanolint(name, "good.py", "--output-format", "concise", "--gpu", "80GB")
        assert outcome.status == 2
        assert "good.py:1:1: NL303[error]" in outcome.out
        return outcome.error

    def test_missing(self) -> None:
        assert self.judge("gone.py") == "nanolint: gone.py: no such file or directory"

    def test_missing_beside_one_that_is_called_almost_so(self) -> None:
        Path("config").mkdir()
        Path("config/train_gpt2.py").write_bytes(FINDING)
        assert self.judge("config/train_gpt.py").endswith("; did you mean config/train_gpt2.py?")

    def test_a_link_to_nothing_is_not_taken_for_what_was_meant(self) -> None:
        Path("x.py").symlink_to("gone")
        assert self.judge("x.py") == "nanolint: x.py: no such file or directory"

    def test_missing_and_called_like_a_command(self) -> None:
        assert self.judge("rules") == (
            "nanolint: rules: no such file or directory; did you mean the command `nanolint rule`?"
        )

    def test_a_command_behind_an_option(self) -> None:
        Path("good.py").write_bytes(FINDING)
        outcome = nanolint("--gpu", "80GB", "explain", "good.py")
        assert "the command `nanolint explain` comes before all options" in outcome.error

    def test_binary(self) -> None:
        Path("a.py").write_bytes(b"\x7fELF\0\0\0")
        assert self.judge("a.py").startswith("nanolint: a.py: it contains NUL bytes")

    def test_not_utf_8(self) -> None:
        Path("a.py").write_bytes(b"name = '\xff'\n")
        assert self.judge("a.py") == "nanolint: a.py: it is not valid utf-8 at byte 8"

    def test_too_large(self) -> None:
        with Path("a.py").open("wb") as file:
            file.truncate(1 << 30)
        assert self.judge("a.py") == "nanolint: a.py: larger than 8 MiB"

    def test_too_long_to_be_parsed(self) -> None:
        Path("a.py").write_bytes(b"x = 1  # long\n" * 100_000)
        assert self.judge("a.py").startswith("nanolint: a.py: not checked: ")

    def test_nested_too_deeply(self) -> None:
        Path("a.py").write_bytes(b"x = " + b"(" * 5000 + b"1" + b")" * 5000)
        assert self.judge("a.py").startswith("nanolint: a.py: not checked: ")

    @pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
    def test_a_named_pipe(self) -> None:
        os.mkfifo("a.py")
        assert self.judge("a.py").startswith("nanolint: a.py: not a file but a named pipe")

    def test_a_name_that_cannot_be_printed(self) -> None:
        Path(os.fsdecode(b"caf\xe9\x1b.py")).write_bytes(b"\0")
        assert "\x1b" not in nanolint(os.fsdecode(b"caf\xe9\x1b.py")).err


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("--batchsize=2", "train.py has no key batchsize; did you mean batch_size?"),
        ("--batch_size=two", "batch_size must be int, as in train.py, not str"),
    ],
)
def test_an_override_that_train_py_would_refuse(override: str, told: str) -> None:
    Path("a.py").write_bytes(CLEAN)
    outcome = nanolint("--gpu=80GB", "--", "a.py", override)
    assert (outcome.status, outcome.error) == (2, f"nanolint: a.py: {told}")


def test_a_folder_called_like_a_file_is_searched() -> None:
    Path("x.py").mkdir()
    Path("x.py/a.py").write_bytes(FINDING)
    assert "x.py/a.py:1:1: NL303" in nanolint("x.py", "--output-format=concise").out


def test_a_syntax_error_is_a_finding() -> None:
    Path("a.py").write_bytes(b"batch_size = = 2\n")
    outcome = nanolint("a.py", "--output-format=concise")
    assert outcome.status == 1
    assert outcome.out.startswith("a.py:1:14: NL001[error]")


def test_one_files_internal_error_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from nanolint.cli import judging
    from nanolint.linting.engine import read

    def failing(text: str, path: Path, *rest: object, **options: object) -> object:
        if path.name == "bad.py":
            raise ZeroDivisionError("on\npurpose")
        return read(text, path, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(judging, "read", failing)
    Path("bad.py").write_bytes(CLEAN)
    Path("good.py").write_bytes(FINDING)
    outcome = nanolint("bad.py", "good.py", "--output-format=concise", "--gpu=80GB")
    assert outcome.status == 2
    told, hint = outcome.err.splitlines()
    assert told == "nanolint: bad.py: internal error: ZeroDivisionError: on purpose"
    assert "please report it" in hint
    assert "good.py:1:1: NL303" in outcome.out


def test_an_internal_error_is_one_line_and_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nanolint.cli.gpus.run", lambda *_: 1 / 0)
    outcome = nanolint("gpus")
    assert outcome.status == 2
    assert outcome.err.startswith("nanolint: internal error: ZeroDivisionError: division by zero\n")
    assert "please report it" in outcome.err


def test_an_interruption_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("nanolint.cli.gpus.run", interrupt)
    outcome = nanolint("gpus")
    assert (outcome.status, outcome.err) == (130, "nanolint: interrupted\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
def test_a_report_that_finds_no_room() -> None:
    command = f"{sys.executable} -m nanolint gpus > /dev/full"
    done = subprocess.run(command, shell=True, capture_output=True, env=_environment())
    assert done.returncode == 2
    assert done.stderr == b"nanolint: cannot write the report: No space left on device\n"
    Path("a.py").write_bytes(FINDING)
    outcome = nanolint("a.py", "--output-file=/dev/full")
    assert outcome.error == "nanolint: --output-file: /dev/full: no space left on device"


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_reader_that_leaves_early_is_no_error() -> None:
    command = f"{sys.executable} -m nanolint gpus | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, env=_environment(), check=True)
    assert done.stdout.startswith(b"12.1  GB10")
    assert done.stderr == b""


def _environment() -> dict[str, str]:
    """This process's, with the packages that it can import."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
