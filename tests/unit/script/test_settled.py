"""Which texts of a script come to one question, and which do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.run.program import FromRun, Placed, ReadScript, SourceText
from nanolint.script.settled import settled
from nanolint.trainers.nanogpt.resolve import default_run

RUN = default_run()
SCRIPT = """\
import os
os.environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:True"
SIZE = 128  # of a micro-batch
"""


def program(text: str, size: str) -> ReadScript:
    start = text.index(f"SIZE = {size}") + len("SIZE = ")
    placed = Placed("__main__", start, start + len(size), FromRun("batch_size"))
    return ReadScript((SourceText("__main__", "train.py", text),), values=(placed,))


def of(text: str, size: str, batch_size: int) -> ReadScript:
    return settled(program(text, size), replace(RUN, batch_size=batch_size))


def test_a_value_that_is_tried_is_the_value_that_a_fix_writes() -> None:
    fixed = SCRIPT.replace("128  #", "32   #")
    assert of(SCRIPT, "128", 32) == of(fixed, "32", 32) != of(SCRIPT, "128", 128)
    assert "SIZE = 32# of" in of(fixed, "32", 32).modules[0].text


def test_words_and_variables_have_the_values_of_the_run() -> None:
    words = (("--batch", FromRun("batch_size")), ("--plain", 3))
    found = settled(ReadScript((), words=words, variables=words), replace(RUN, batch_size=7))
    assert found.words == found.variables == (("--batch", 7), ("--plain", 3))


def test_the_allocator_s_variable_may_have_either_name() -> None:
    other = SCRIPT.replace("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
    assert of(SCRIPT, "128", 8) == of(other, "128", 8)


@pytest.mark.parametrize(
    "more",
    [
        'print(os.environ.get("PYTORCH_ALLOC_CONF"))\n',
        'IS_NEW = "PYTORCH_ALLOC_CONF" in os.environ\n',
    ],
)
def test_but_not_where_the_script_asks_for_it(more: str) -> None:
    other = SCRIPT.replace("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
    assert of(SCRIPT + more, "128", 8) != of(other + more, "128", 8)


def test_nor_where_it_is_read_alone() -> None:
    asks = 'import os\nSIZE = 128\nX = os.environ["PYTORCH_ALLOC_CONF"] == "a"\n'
    other = asks.replace("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
    assert of(asks, "128", 8) != of(other, "128", 8)
