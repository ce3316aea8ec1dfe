"""The lines that explain tells of a script's own: known to the last letter, or not told."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.gpus.lookup import find
from nanolint.recording.recording import record
from nanolint.report.explain.text import log_lines
from nanolint.run.program import ReadScript, SourceText
from nanolint.trainers.nanogpt.resolve import default_run

if TYPE_CHECKING:
    from nanolint.run.run import Run

GPU = find("rtx-4090").gpu
SCRIPT = """
import math, os, random, time
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

B, T, rate = 4, 128, 1e-3

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(512, 64)
        self.head = nn.Linear(64, 512, bias=False)

    def forward(self, x, y):
        logits = self.head(self.table(x))
        return F.cross_entropy(logits.view(-1, 512), y.view(-1))

model = Net().cuda()
data = np.memmap("train.bin", dtype=np.uint16, mode="r")
{above}
optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
x = torch.zeros((B, T), dtype=torch.long, device="cuda")
for step in range(100):
    {inside}
    loss = model(x, x)
    loss.backward()
    {behind}
    optimizer.step()
    optimizer.zero_grad()
"""


def run_of(above: str, inside: str = "pass", behind: str = "pass") -> Run:
    text = SCRIPT.format(above=above, inside=inside, behind=behind)
    program = ReadScript((SourceText("__main__", "sub/train.py", text),))
    return replace(default_run(), program=program, compile=False)


def printed(above: str, inside: str = "pass", behind: str = "pass") -> list[str]:
    return record(run_of(above, inside, behind), GPU).printed


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("print('a', 2, 0.5, True)", "a 2 0.5 True"),
        ("print(1, 2, sep='-')", "1-2"),
        ("print('x', end=' '); print(3)", "x 3"),
        ("print(f'{B * T:,} tokens, {rate:.1e}')", "512 tokens, 1.0e-03"),
        ("print('%d rows, %.2fM, %5.1f%%' % (B, 1.234, 12.5))", "4 rows, 1.23M,  12.5%"),
        ("print('{:,} and {name:.1f}'.format(10000, name=2.5))", "10,000 and 2.5"),
        ("print(f'{sum(p.numel() for p in model.parameters()):,}')", "65,536"),
        ("print(math.ceil(B * T / 100))", "6"),
    ],
)
def test_what_is_known_is_told(statement: str, line: str) -> None:
    assert printed(statement) == [line]


@pytest.mark.parametrize(
    "statement",
    [
        "print('at', time.time(), 1)",
        "print(len(data))",
        "print(f'{len(data[: int(0.9 * len(data))]) // (B * T):,} steps')",
        "print(f'{data.shape[0] / 1e9:.2f}B tokens')",
        "print(math.ceil(len(data) / (B * T)))",
        "print(len(range(0, len(data), T)))",
        "n = len(data)\nif n > 100:\n    print('enough for 5 epochs')",
        "if time.time() > 5:\n    print('later than 5')",
        "print(id(model))",
        "print(torch.__version__, 2)",
        "print(torch.version.cuda)",
        "print(model.head.weight.shape)",
        "print('%s' % (model.head.weight.shape,))",
        "print(torch.cuda.get_device_properties(0).total_memory)",
        "print(1, file=open('log.txt', 'w'))",
        "print('unknown', random.random(), end=' '); print(1)",
    ],
)
def test_what_only_a_run_knows_is_not(statement: str) -> None:
    assert printed(f"print('before 0')\n{statement}\nprint('behind 7')") == ["before 0", "behind 7"]


def test_a_line_that_began_in_what_may_not_be_taken_is_not_told() -> None:
    above = "if time.time() > 5:\n    print('open', end=' ')\nprint('rest 1')\nprint('next 2')"
    assert printed(above) == ["next 2"]


def test_only_what_comes_before_the_first_backward_pass_is_told() -> None:
    assert printed("print('a')", "print('step', step)", "print('done', step)") == ["a", "step 0"]


def test_numbers_that_no_memory_follows_are_those_of_the_run() -> None:
    # Scripts that differ in such a number share their events.
    one = run_of("print('rate', rate)")
    assert isinstance(one.program, ReadScript)
    (source,) = one.program.modules
    other = replace(source, text=source.text.replace("1e-3", "5e-4"))
    two = replace(one, program=replace(one.program, modules=(other,)))
    assert [record(each, GPU).printed for each in (one, two)] == [["rate 0.001"], ["rate 0.0005"]]


def test_explain_tells_lines_with_numbers_of_the_script_that_prints_them() -> None:
    above = "print('hello')\nprint('gpt-2 in bf16')\n" + "\n".join(
        f"print('line {each}\\x1b[31m')" for each in range(20)
    )
    who, lines = log_lines(run_of(above), GPU)
    assert who == "train.py"
    assert lines == [f"line {each}␛[31m" for each in range(8)]
