"""Why a file that somebody named holds no run."""

from __future__ import annotations

import sys

import pytest

from nanolint.trainers.no_run import why_no_run

PYTHON = "{}.{}".format(*sys.version_info)
MODEL = "import torch.nn as nn\n\n\nclass GPT(nn.Module):\n    width: int = 8\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            MODEL + "\nB = 64\nT: int = 1024\nloss.backward()\n",
            "builds its own model and sets B, T on lines 7, 8",
        ),
        (MODEL, "defines a model and trains nothing"),
        ("print(1)\n", "sets no key of train.py and trains nothing"),
        (
            "parser.add_argument('--batch_size')\nbatch_size = 3\nloss.backward()\n",
            "trains in a loop of its own and reads its values with argparse",
        ),
        (
            "from transformers import Trainer, TrainingArguments\nTrainer().train()\n",
            "trains with transformers' Trainer",
        ),
        (
            "def count(x):\n    return len(x)\n",
            "calls no backward() itself, and starts no known training loop",
        ),
        ("import transformers\n", "sets no key of train.py and trains nothing"),
        ("import pytorch_lightning as pl\n", "trains with Lightning"),
        (
            "top_k = 9\nexec(open('configurator.py').read())\n",
            "loads the configurator itself; name the config that it runs",
        ),
        ("total_batch_size = 2**19\nx.backward()\n",
         "trains in a loop of its own and sets total_batch_size on line 1"),
        ("def f(:\n", f"not valid Python {PYTHON}: invalid syntax, line 1"),
    ],
)  # fmt: skip
def test_why(text: str, why: str) -> None:
    assert why_no_run(text) == why
