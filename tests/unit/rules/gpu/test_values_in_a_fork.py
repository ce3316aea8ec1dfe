"""What the GPU rules make of a train.py that is not quite nanoGPT's."""

from __future__ import annotations

from tests.support.harness import Bench

CONFIG = "batch_size = 1\nblock_size = 64\n"


def test_an_assignment_under_a_condition_is_no_anchor() -> None:
    text = "batch_size = 1\nif True:\n    device = 'cuda'\nblock_size = 64\n"
    fixed = Bench("NL202", gpu="gtx-1080-ti").fixed(text)
    assert fixed == f"{text}compile = False\n"


def test_a_file_that_sets_nothing_by_itself() -> None:
    found = Bench("NL202", gpu="gtx-1080-ti").finding(
        "if True:\n    batch_size = 1\n    bias = 1\n"
    )
    assert found.notes == ("not fixed: the file sets no related key to put it next to",)
