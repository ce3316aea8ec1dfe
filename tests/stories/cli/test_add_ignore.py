"""``--add-ignore``: a suppression for each finding, where it counts and is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import nanolint

HEADS = "n_embd = 384\nn_head = 5\nbatch_size = 2\nblock_size = 64\n"  # NL303 at n_embd
ABOVE = "# nanolint: ignore[NL303]\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (HEADS, HEADS.replace("384\n", "384  # nanolint: ignore[NL303]\n")),
        (HEADS.replace("384\n", "384  # width\n"), ABOVE + HEADS.replace("384", "384  # width")),
        (
            HEADS.replace("384\n", "(\n    384\n)\n"),
            ABOVE + HEADS.replace("384\n", "(\n    384\n)\n"),
        ),
        (
            "# top\n# nanolint: ignore[NL305] why\n" + HEADS + "n_embd = 384\n",
            None,
        ),
        (HEADS.replace("\n", "\r\n"), None),
        (HEADS.replace("384\n", "384  # width\n").replace("\n", "\r\n"), None),
        ("\ufeff" + HEADS, None),
        ("#!/usr/bin/env python\n# coding: utf-8\n" + HEADS, None),
        (HEADS.replace("\nn_head", "; n_head"), None),
        (HEADS + "seed = 1\nseed = 2", None),
    ],
    ids=[
        "behind the statement",
        "above a statement with a comment",
        "above a statement of several lines",
        "beside other suppressions",
        "carriage returns",
        "carriage returns above",
        "byte order mark",
        "shebang and encoding",
        "two statements on a line",
        "no last newline",
    ],
)
def test_nothing_is_left_to_report(before: str, after: str | None) -> None:
    path = Path("a.py")
    path.write_bytes(before.encode())
    outcome = nanolint("a.py", "--gpu=80GB", "--add-ignore", "--ignore=NL006")
    assert outcome.status == 0, outcome
    assert "Silenced a.py: 1 × NL303" in outcome.out
    written = path.read_bytes().decode()
    if after is not None:
        assert written == after
    assert ("\r\n" in before) == ("\r\n" in written)
    assert "\n" not in written.replace("\r\n", "") or "\r\n" not in before
    assert nanolint("a.py", "--gpu=80GB", "--output-format=json", "--ignore=NL006").out == "[]\n"
    nanolint("a.py", "--gpu=80GB", "--add-ignore", "--ignore=NL006")
    assert path.read_bytes().decode() == written


def test_codes_join_a_suppression_that_is_there() -> None:
    path = Path("a.py")
    text = HEADS.replace("384\n", "384  # nanolint: ignore[NL315] why\n")
    path.write_text(text)
    nanolint("a.py", "--gpu=80GB", "--add-ignore", "--select=NL303")
    assert path.read_text() == text.replace("[NL315]", "[NL315, NL303]")


def test_a_syntax_error_stays() -> None:
    Path("a.py").write_text("a = = 1\n")
    outcome = nanolint("a.py", "--add-ignore")
    assert outcome.status == 1
    assert Path("a.py").read_text() == "a = = 1\n"


@pytest.mark.parametrize("arguments", [("a.py", "--fix"), ("a.py", "--diff"), ("-",)])
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    outcome = nanolint(*arguments, "--add-ignore")
    assert outcome.status == 2
    assert outcome.error.startswith("nanolint: --add-ignore needs files")
