from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL202", gpu="gtx-1080-ti")


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("compile = True\nbatch_size = 1", "compile = False\nbatch_size = 1"),
        ("batch_size = 1  # größte\r\n", "batch_size = 1  # größte\r\ncompile = False\r\n"),
        (
            "compile\t=\t(True)   # on\nbatch_size = 1\n",
            "compile\t=\tFalse    # on\nbatch_size = 1\n",
        ),
        ("device='cuda'\nbatch_size=1\n", "device='cuda'\ncompile=False\nbatch_size=1\n"),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text) == fixed


def test_an_unknown_batch_changes_nothing() -> None:
    text = "import os\nbatch_size = int(os.environ['B'])\nblock_size = 64\n"
    assert BENCH.fixed(text).endswith("block_size = 64\ncompile = False\n")


def test_a_value_that_is_read_elsewhere_is_not_fixed() -> None:
    found = BENCH.finding("compile = True\nbatch_size = 4 if compile else 2\n")
    assert found.fix is None
    assert found.notes == ("not fixed: batch_size (line 2) is computed from compile",)


def test_a_choice_is_not_flattened_without_asking() -> None:
    text = "big = True\ncompile = True if big else False\nbatch_size = 1\n"
    assert BENCH.fixed(text) == text
    (note,) = BENCH.finding(text).notes
    assert note.endswith("one value would replace compile = True if big else False")
    assert "compile = False\n" in BENCH.fixed(text, unsafe=True)


def test_no_safe_fix_changes_a_name_that_shows_the_value() -> None:
    text = "compile = True\nbatch_size = 1\nwandb_run_name = f'compiled-{compile}'\n"
    assert BENCH.fixed(text) == text


@pytest.mark.parametrize("gpu", ["v100-16gb", "t4", "rtx-4090", "12GB", "mi210"])
def test_newer_cards(gpu: str) -> None:
    assert Bench("NL202", gpu=gpu).findings("batch_size = 1\n") == []


@pytest.mark.parametrize("setting", ["compile = False", "device = 'cpu'", "compile = 0"])
def test_not_compiled(setting: str) -> None:
    assert BENCH.findings(f"batch_size = 1\n{setting}\n") == []
