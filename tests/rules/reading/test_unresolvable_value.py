from __future__ import annotations

import pytest

from tests.rules.harness import Bench

BENCH = Bench("NL004")


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("import os\nbatch_size = int(os.environ['B'])\nblock_size = 64\n", "batch_size = int(os"),
        ("import time\nbatch_size = 4\nn_layer = int(time.time())\n", "n_layer = int(time"),
        ("import random\nbatch_size = 4\ndropout = random.random()\n", "dropout = random"),
        ("batch_size = 4\nblock_size = 'long'\n", "block_size = 'long'"),
    ],
)
def test_reported(text: str, marked: str) -> None:
    (found,) = BENCH.marked(text)
    assert found.startswith(marked)


def test_a_dataset_of_characters_points_at_the_dataset() -> None:
    text = "import os\nbatch_size = 4\ndataset = os.environ['DATA']\n"
    assert BENCH.marked(text) == ["dataset = os.environ['DATA']"]


@pytest.mark.parametrize(
    "text",
    [
        "batch_size = 4\nout_dir = str(print())\n",
        "batch_size = 4\nlearning_rate = float(input())\n",
        "n_head = 7\nn_embd = 768\n",  # NL303 says it
        "batch_size = 4\ndtype = 'fp16'\n",  # NL314 says it
    ],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


def test_a_value_from_the_command_line_settles_it() -> None:
    text = "import os\nbatch_size = int(os.environ['B'])\nblock_size = 64\n"
    assert Bench("NL004", overrides={"batch_size": 8}).findings(text) == []
