from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.harness import Bench
from tests.support.project_tree import EVALUATION, LOOP, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

BENCH = Bench("NL409")


def test_a_train_script(tmp_path: Path) -> None:
    small = "batch_size = 4\nblock_size = 256\ndtype = 'float32'\n"
    evaluation = "batch_size = 64\nblock_size = 1024\neval_only = True\n"
    strange = "batch_size = int(input())\nblock_size = 1024\n"
    configs = {"small": small, "evaluation": evaluation, "strange": strange}
    root = write_project(tmp_path, {f"config/{name}.py": text for name, text in configs.items()})
    text = train_script()
    bench = Bench("NL409", path=root / "train.py")
    evaluated, trained = bench.findings(text)
    assert bench.marked(text) == ["scores", "scores"]
    assert "through the next forward (6.14 GiB with config/evaluation.py)" in evaluated.message
    assert "through the backward pass and the next forward (1.15 GiB with train" in trained.message
    assert trained.notes == ("1.15 GiB: train.py's own values", "196.50 MiB: config/small.py")
    fixed = bench.fixed(text, unsafe=True)
    call = "scores, error = model(inputs, labels)\n"
    assert fixed == train_script(
        evaluation=EVALUATION.replace(call, f"{call}{' ' * 16}del scores\n"),
        loop=LOOP.replace(call, f"{call}{' ' * 12}del scores\n"),
    )
    assert bench.findings(fixed) == []


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        pytest.param(
            "def step(X, Y):\r\n\tlogits, loss = raw_model(\r\n\t\tX,\r\n\t\tY)  # größer\r\n"
            "\tloss.backward()",
            "def step(X, Y):\r\n\tlogits, loss = raw_model(\r\n\t\tX,\r\n\t\tY)  # größer\r\n"
            "\tdel logits\r\n\tloss.backward()",
            id="a function, CRLF over lines",
        ),
        pytest.param(
            "while 1:\n  a = 1; (logits, loss) = self.model(X, targets=Y); loss.backward()\n",
            "while 1:\n  a = 1; (logits, loss) = self.model(X, targets=Y); del logits;"
            " loss.backward()\n",
            id="between others",
        ),
        pytest.param(
            "for X in Xs:\n  if log: print(loss.item())\n  logits, loss = model.module(X, X)",
            "for X in Xs:\n  if log: print(loss.item())\n  logits, loss = model.module(X, X)"
            "\n  del logits",
            id="no final newline",
        ),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text) == text, "the fix is unsafe"
    assert BENCH.fixed(text, unsafe=True) == fixed


@pytest.mark.parametrize(
    "text",
    [
        "while 1:\n  logits, loss = model(X, Y)\n  del logits\n  loss.backward()\n",
        "while 1:\n  loss = model(X, Y)[1]\n  loss.backward()\n",
        "while 1:\n  logits, loss, cache = model(X, Y)\n  loss.backward()\n",
        "while 1:\n  logits, loss = model(X, Y)\n  f(f'{logits}', loss.backward())\n",
        "while 1:\n  tokens, model = load_model(X, Y)\n  model.backward()\n",
        "while 1:\n  logits, loss = model(X, Y)\n",
        "while 1:\n  x, loss = model(X, Y)\n  loss.backward()\ndef f(): print(x)\n",
        "for _ in n:\n  _, loss = model(X, Y)\n  loss.backward()\n",
    ],
    ids=[
        "deleted",
        "never named",
        "another model",
        "read in text",
        "not a call of a model",
        "neither trains nor evaluates",
        "read in a function",
        "the loop's variable too",
    ],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []
