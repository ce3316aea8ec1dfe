from __future__ import annotations

import pytest

from nanolint.linting.engine import lint
from nanolint.linting.setup import Setup
from tests.support.harness import Bench

BENCH = Bench("NL001")


def test_it_points_at_the_character() -> None:
    assert BENCH.lines("x = 1\ny = = 2\n", "f.py") == [
        "f.py:2:5: NL001[error] not valid Python: invalid syntax"
    ]


def test_the_end_of_the_file() -> None:
    assert len(BENCH.findings("batch_size = (12")) == 1


def test_nothing_else_is_said() -> None:
    report = BENCH.report("dtype = 'fp16'\nbatch_size = 12\nn_head = 5 n_embd = 7\n")
    assert [each.code for each in report.diagnostics] == ["NL001"]


def test_an_empty_file_is_valid() -> None:
    assert BENCH.findings("") == []


def test_new_syntax_is_valid() -> None:
    assert BENCH.findings("if (n := 12) > 3:\n    batch_size = n\n") == []


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("from x import *\nprint 1\n", []),  # a program of Python 2's
        ("from base import *\nbatch_size = 8\nblock_size = (\n", ["NL001"]),
    ],
)
def test_among_the_files_of_a_folder_only_a_config_is_worth_an_error(
    text: str, codes: list[str]
) -> None:
    report = lint(text, None, Setup((BENCH.rule,), {}), explicit=False)
    assert [each.code for each in report.diagnostics] == codes
    assert (report.unjudged is None) is bool(codes)
