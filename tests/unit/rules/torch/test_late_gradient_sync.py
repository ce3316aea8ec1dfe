"""A sync flag that comes too late, and the fixes that would make it matter."""

from __future__ import annotations

from tests.support.harness import Bench
from tests.support.project_tree import LOOP

BENCH = Bench("NL418")
FLAG = "model.require_backward_grad_sync = part == gradient_accumulation_steps - 1\n"
EARLY = LOOP.replace("        with ctx:", f"        {FLAG}        with ctx:")
LATE = LOOP.replace("        inputs, labels = get", f"        {FLAG}        inputs, labels = get")
SIZES = "block_size = 256\nn_layer = 2\nn_head = 4\nn_embd = 256\n"
CONFIG = f"batch_size = 64\ngradient_accumulation_steps = {{}}\n{SIZES}"


def loop(*lines: str) -> str:
    return "for i in steps:\n" + "".join(f"    {line}\n" for line in lines)


def test_a_fix_that_the_lines_above_forbid() -> None:
    text = loop("loss = model(x)", "last = loss < 1", f"{FLAG.replace('part', 'last')}").rstrip()
    text = f"{text}\n    loss.backward()\n"
    assert BENCH.finding(text).fix is None


def test_a_line_that_it_shares() -> None:
    text = loop("loss = model(x)", f"{FLAG.strip()}; loss.backward()")
    assert BENCH.finding(text).fix is None


def test_two_models_in_one_loop() -> None:
    text = loop("a = model(x)", "a.backward()", FLAG.strip(), "b = other(x)", "b.backward()")
    assert BENCH.findings(text) == []
