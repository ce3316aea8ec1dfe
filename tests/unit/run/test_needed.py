"""Which values the replay can use, and what is said of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.source.values import Unknown
from tests.unit.run.settling import reasons, settle

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("line", "key", "reason"),
    [
        ("batch_size = 64.0", "batch_size", "integer"),
        ("batch_size = True", "batch_size", "integer"),
        ("batch_size = '12'", "batch_size", "integer"),
        ("batch_size = None", "batch_size", "integer"),
        ("batch_size = 0", "batch_size", "at least 1"),
        ("batch_size = -4", "batch_size", "at least 1"),
        ("batch_size = 10 ** 20", "batch_size", "beyond"),
        ("block_size = [1024]", "block_size", "integer"),
        ("n_layer = 1000000", "n_layer", "beyond"),
        ("eval_iters = -1", "eval_iters", "at least 0"),
        ("n_head = 7", "n_head", "n_embd = 768 is not a multiple of n_head = 7"),
        ("dropout = 1.5", "dropout", "from 0 to 1"),
        ("dropout = '0.1'", "dropout", "from 0 to 1"),
        ("dtype = 'bf16'", "dtype", "'float32', 'bfloat16', 'float16'"),
        ("init_from = 'gpt3'", "init_from", "'scratch'"),
        ("init_from = choose()", "init_from", ""),
        ("device = 3", "device", "string"),
        ("batch_size = choose()", "batch_size", ""),
        ("compile = choose()", "compile", ""),
    ],
)
def test_a_value_of_no_use_is_unresolved_with_the_reason(
    tmp_path: Path, line: str, key: str, reason: str
) -> None:
    found = reasons(settle(tmp_path, line + "\n"))
    assert found.keys() == {key}
    assert reason in found[key]
    assert len(found[key]) < 150


def test_all_reasons_are_found_at_once(tmp_path: Path) -> None:
    found = settle(tmp_path, "batch_size = 0\nblock_size = 0\ndtype = 'x'\nn_head = 0\n")
    assert reasons(found).keys() == {"batch_size", "block_size", "dtype", "n_head"}


@pytest.mark.parametrize("line", ["compile = 0", "bias = 'False'", "eval_only = 1", "dropout = 0"])
def test_truth_is_pythons(tmp_path: Path, line: str) -> None:
    run = settle(tmp_path, line + "\n").run
    assert run is not None
    key, _, value = line.partition(" = ")
    assert run.value(key) == bool(eval(value))


@pytest.mark.parametrize(
    "line",
    [
        "gradient_accumulation_steps = 0\neval_only = True",
        "max_iters = 'x'",
        "eval_interval = 0",
        "grad_clip = choose()",
        "grad_clip = 10 ** 400",
        "learning_rate = choose()",
        "out_dir = choose()",
    ],
)
def test_what_the_replay_can_do_without_does_not_matter(tmp_path: Path, line: str) -> None:
    assert settle(tmp_path, line + "\n").run is not None


def test_an_unknown_value_tells_its_reason(tmp_path: Path) -> None:
    found = settle(tmp_path, "import os\nbatch_size = int(os.environ['B'])\n")
    value = found.settings["batch_size"].value
    assert isinstance(value, Unknown)
    assert reasons(found) == {"batch_size": value.reason}
