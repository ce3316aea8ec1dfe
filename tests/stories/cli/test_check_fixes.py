"""``nanolint check --fix`` and ``--diff``: what is written, and what is only shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli_configs import CONCISE, GPU, HEADS, LARGE, write
from tests.support.command import nanolint


class TestFix:
    def test_the_file_is_rewritten_and_the_rest_is_reported(self) -> None:
        path = write("a.py", LARGE + "seed = 1\nseed = 2\n")
        outcome = nanolint("a.py", GPU, "--fix", CONCISE)
        text = path.read_text()
        assert "batch_size = 8  # micro-batch\n" in text
        assert "gradient_accumulation_steps = 8 * 8\n" in text
        assert "Fixed a.py: 1 × NL10" in outcome.out
        assert "NL305[warning]" in outcome.out
        assert outcome.status == 1

    def test_a_second_time_changes_nothing(self) -> None:
        path = write("a.py")
        nanolint("a.py", GPU, "--fix")
        first = path.read_bytes(), path.stat().st_mtime_ns
        outcome = nanolint("a.py", GPU, "--fix")
        assert "Fixed" not in outcome.out
        assert (path.read_bytes(), path.stat().st_mtime_ns) == first

    @pytest.mark.parametrize(
        ("raw", "kept"),
        [
            (LARGE.replace("\n", "\r\n").encode(), b"# 124M on one card\r\n"),
            (b"\xef\xbb\xbf" + LARGE.encode(), b"\xef\xbb\xbf# 124M"),
            (b"# coding: latin-1\n# caf\xe9\n" + LARGE.encode(), b"# caf\xe9\n"),
            (LARGE.rstrip().encode(), b"dtype = 'bfloat16'"),
        ],
        ids=["carriage returns", "byte order mark", "latin-1", "no last newline"],
    )
    def test_every_byte_around_the_value_stays(self, raw: bytes, kept: bytes) -> None:
        path = Path("a.py")
        path.write_bytes(raw)
        # Whatever configurator.py makes of the encoding: NL006.
        assert nanolint("a.py", GPU, "--fix", "--ignore=NL006").status == 0
        fixed = path.read_bytes()
        assert kept in fixed
        assert fixed == raw.replace(b"= 16", b"= 8").replace(b"= 4 * 8", b"= 8 * 8")

    def test_unfixable_rules_are_left_alone(self) -> None:
        path = write("a.py")
        write("nanolint.toml", 'unfixable = ["NL1"]')
        assert nanolint("a.py", GPU, "--fix").status == 1
        assert path.read_text() == LARGE

    def test_a_file_that_cannot_be_written_is_told_and_still_judged(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from nanolint.cli import judging
        from nanolint.files.writing import Unwritable

        def refuse(*_: object, **__: object) -> None:
            raise Unwritable("the file is read-only")

        monkeypatch.setattr(judging, "replace_file", refuse)
        write("a.py")
        outcome = nanolint("a.py", GPU, "--fix", CONCISE)
        assert outcome.status == 2
        assert outcome.error == "nanolint: a.py: not fixed: the file is read-only"
        assert "Fixed" not in outcome.out
        assert "a.py:2:1: NL10" in outcome.out


class TestDiff:
    def test_the_difference_is_printed_and_nothing_is_written(self) -> None:
        path = write("a.py")
        outcome = nanolint("a.py", GPU, "--diff")
        assert outcome.status == 1
        assert outcome.out.startswith("--- a.py\n+++ a.py\n@@ ")
        assert "\n-batch_size = 16  # micro-batch\n+batch_size = 8  # micro-batch\n" in outcome.out
        assert outcome.error == "Would fix 1 finding in 1 file."
        assert path.read_text() == LARGE

    def test_without_a_difference_the_status_is_0(self) -> None:
        write("a.py", HEADS)
        outcome = nanolint("a.py", GPU, "--diff")
        assert (outcome.status, outcome.out, outcome.error) == (0, "", "Nothing to fix.")
