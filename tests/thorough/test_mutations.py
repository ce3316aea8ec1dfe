"""A config that is right, and what each rule says when one thing in it is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.harness import Bench
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path

RIGHT = """\
# three layers as wide as those of the 124M model, on a node of eight cards
wandb_log = True
wandb_project = 'owt'
wandb_run_name='three-layers'

# 12 batch size * 1024 block size * 5 gradaccum * 8 GPUs = 491,520
batch_size = 12
block_size = 1024
gradient_accumulation_steps = 5 * 8

n_layer = 3
max_iters = 600000
lr_decay_iters = 600000
eval_interval = 1000
eval_iters = 200
weight_decay = 1e-1
device = 'cuda'
dtype = 'float16'
compile = False
"""
NODE = "8xA100-40GB"


@pytest.mark.parametrize(
    ("code", "gpu", "old", "new"),
    [
        ("NL001", NODE, "batch_size = 12", "batch_size = = 12"),
        ("NL002", NODE, "batch_size = 12", "batch_size = 12  # nanolint: ignore[NL303]"),
        ("NL003", NODE, "batch_size = 12", "batch_size = 12  # nanolint: ignore[NL999]"),
        ("NL004", NODE, "batch_size = 12", "batch_size = int(input())"),
        ("NL101", NODE, "block_size = 1024", "block_size = 131072"),
        ("NL102", NODE, "batch_size = 12", "batch_size = 256"),
        ("NL103", "rtx-3090", "batch_size = 12", "n_embd = 780\nbatch_size = 28"),
        ("NL104", "rtx-3090", "batch_size = 12", "batch_size = 29"),
        ("NL105", "rtx-3080-12gb", "batch_size = 12", "batch_size = 1"),
        ("NL201", "rtx-3080,rtx-4070", "compile = False", "compile = True"),
        ("NL202", "gtx-1080-ti", "compile = False", "compile = True"),
        ("NL203", "t4", "'float16'", "'bfloat16'"),
        ("NL204", NODE, "'float16'", "'float32'"),
        ("NL205", NODE, "'cuda'\ndtype = 'float16'\ncompile = False", "'mps'\ncompile = True"),
        ("NL206", NODE, "'cuda'", "'cpu'"),
        ("NL301", NODE, "weight_decay", "weight_decai"),
        ("NL302", NODE, "1e-1", "1"),
        ("NL303", NODE, "eval_iters", "n_head = 7\neval_iters"),
        ("NL304", NODE, "5 * 8", "5 * 7"),
        ("NL305", NODE, "max_iters = 600000\nlr", "max_iters = 5\nmax_iters = 600000\nlr"),
        ("NL306", NODE, "eval_iters", "init_from = 'gpt2'\neval_iters"),
        ("NL307", NODE, "block_size = 1024", "init_from = 'gpt2'\nblock_size = 2048"),
        ("NL308", NODE, "lr_decay_iters = 600000", "lr_decay_iters = 5000"),
        ("NL309", NODE, "eval_iters", "warmup_iters = 700000\neval_iters"),
        ("NL310", NODE, "eval_iters", "min_lr = 1e-2\neval_iters"),
        ("NL311", NODE, "eval_interval = 1000", "eval_interval = 400001"),
        ("NL312", NODE, "gradient_accumulation_steps = 5 * 8\n", ""),
        ("NL313", NODE, "batch_size = 12\n", "batch_size = 6\n"),
        ("NL314", NODE, "'float16'", "'float61'"),
        ("NL315", NODE, "eval_iters", "n_embd = 780\neval_iters"),
        ("NL317", NODE, "wandb_log", "dataset = 'openwebtxt'\nwandb_log"),
    ],
)
def test_a_rule_speaks_of_its_mistake_and_of_nothing_else(
    tmp_path: Path, code: str, gpu: str, old: str, new: str
) -> None:
    root = write_project(tmp_path, {"data/openwebtext/prepare.py": "print('tokens')\n"})
    bench = Bench(code, gpu=gpu, path=root / "config" / "train.py")
    assert old in RIGHT
    wrong = RIGHT.replace(old, new, 1)
    assert bench.findings(wrong)
    assert bench.findings(RIGHT) == []
