"""When a fix of the micro-batch is made without asking, and when it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support import project_tree
from tests.support.harness import Bench

if TYPE_CHECKING:
    from pathlib import Path

SIZES = "block_size = 256\nn_layer = 2\nn_head = 4\nn_embd = 256\n"
CHOICES = [
    "64 if big else 8",
    "max(64, 8)",
    "[4, 8, 64][-1]",
    "0 or 64",
    "MICRO",
    "{'a': 64}['a']",
    "MICRO + 0",
]
NUMBERS = {
    "64": "4",
    "0x40": "4",
    "2 ** 6": "4",
    "1 << 6": "4",
    "128 // 2": "4",
    "+64": "4",
    "int(64)": "4",
    "(64)": "(4)",
    "16 * 4": "1 * 4",
    "32 * (2 if big else 1)": "2 * (2 if big else 1)",
}


def text(written: str, steps: int = 32) -> str:
    return f"big = True\nMICRO = 64\n{SIZES}batch_size = {written}\n" + (
        f"gradient_accumulation_steps = {steps}\n"
    )


def bench(root: Path, files: dict[str, str] | None = None, **told: object) -> Bench:
    """The rule on config/base.py, in a project."""
    project_tree.write_project(root, {"config/base.py": text("64"), **(files or {})})
    return Bench("NL102", gpu="1GiB", path=root / "config" / "base.py", **told)  # type: ignore[arg-type]


@pytest.mark.parametrize("written", NUMBERS)
def test_numbers_and_factors_are_changed_where_they_stand(written: str, tmp_path: Path) -> None:
    assert f"batch_size = {NUMBERS[written]}\n" in bench(tmp_path).fixed(text(written))


def test_a_launch_that_shares_it_as_before_is_no_obstacle(tmp_path: Path) -> None:
    def fixed(processes: str, batch: int, steps: int) -> str:
        line = f"torchrun --nproc_per_node={processes} train.py config/base.py\n"
        return bench(tmp_path, {"run.sh": line}).fixed(text(str(batch), steps=steps))

    assert "batch_size = 5\ngradient_accumulation_steps = 80\n" in fixed("5", 10, 40)
    assert "batch_size = 4\ngradient_accumulation_steps = 48\n" in fixed("$N", 16, 12)


def test_what_is_only_evaluated_this_time_may_train_another_time(tmp_path: Path) -> None:
    on = bench(tmp_path, overrides={"eval_only": True})
    found = on.finding(text("64"))
    assert on.fixed(text("64")) == text("64")
    assert any("without eval_only on the command line" in note for note in found.notes)


def test_the_file_that_takes_values_is_named(tmp_path: Path) -> None:
    files = {
        "config/small.py": "from config.base import *\nbatch_size = 4\n",
        "b.py": "import base",
    }
    (note,) = [n for n in bench(tmp_path, files).finding(text("64")).notes if "unsafe" in n]
    assert note == "unsafe: b.py:1 starts from this file, or runs it, and so do others"


@pytest.mark.parametrize(
    "expression",
    [
        'globals()["batch_size"] * 1e-5',
        "[v for k, v in list(globals().items()) if k == 'batch_size'][0] * 1e-5",
        'sys._getframe().f_globals["batch_size"] * 1e-5',
        'inspect.currentframe().f_globals.get("batch_size") * 1e-5',
    ],
)
def test_a_read_of_the_namespace_is_a_use_of_every_key(expression: str, tmp_path: Path) -> None:
    before = f"import inspect, sys\n{text('64')}learning_rate = {expression}\n"
    on = bench(tmp_path)
    assert "not fixed: learning_rate" in str(on.finding(before).notes)
    assert on.fixed(before, unsafe=True) == before


@pytest.mark.parametrize(
    ("comment", "after"),
    [
        ("batch_size = 64, 64 * 32 = 2048", "batch_size = 4, 4 * 512 = 2048"),
        ("64 * 32 = 2048, once 32 * 64 = 2048", "4 * 512 = 2048, once 512 * 4 = 2048"),
        ("64 * 32 = 2048, for 32 cards", "64 * 32 = 2048, for 32 cards"),
    ],
)
def test_a_comment_is_brought_up_to_date_whole_or_not_at_all(
    comment: str, after: str, tmp_path: Path
) -> None:
    before = text("64").replace("batch_size = 64", f"batch_size = 64  # {comment}")
    assert f"batch_size = 4  # {after}\n" in bench(tmp_path).fixed(before)
