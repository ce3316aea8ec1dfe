"""Forks of nanoGPT whose loop, batch or optimizer was changed: the script is read whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.command import nanolint

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """
import torch, torch.nn as nn
from torch.nn import functional as F
from dataclasses import dataclass

@dataclass
class GPTConfig:
    block_size: int = 1024
    vocab_size: int = 50304
    n_layer: int = 12
    n_head: int = 12
    n_embd: int = 768
    dropout: float = 0.0
    bias: bool = True

class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.inner = nn.ModuleList(
            [nn.Linear(config.n_embd, config.n_embd) for _ in range(config.n_layer)])
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
    def forward(self, idx, targets):
        x = self.wte(idx)
        for each in self.inner:
            x = x + F.gelu(each(x))
        logits = self.head(x)
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
"""

SCRIPT = """
import os, pickle
import numpy as np
import torch
from contextlib import nullcontext
from model import GPTConfig, GPT

out_dir = 'out'
eval_interval = 1000
eval_iters = 3
eval_only = False
init_from = 'scratch'
dataset = 'words'
gradient_accumulation_steps = 4
batch_size = 8
block_size = 128
n_layer = 2
n_head = 4
n_embd = 64
dropout = 0.0
bias = True
momentum = 0.9
max_iters = 100
device = 'cuda'
dtype = 'float32'
compile = False
config_keys = [k for k, v in globals().items() if not k.startswith('_')]
exec(open('configurator.py').read())

data_dir = os.path.join('data', dataset)
train_data = np.memmap(os.path.join(data_dir, 'train.bin'), dtype=np.uint16, mode='r')
def get_batch():
    starts = torch.randint(len(train_data) - block_size, (batch_size,))
    rows = [train_data[i : i + block_size + 1].astype(np.int64) for i in starts]
    both = torch.stack([torch.from_numpy(each) for each in rows])
    x, y = both[:, :-1], both[:, 1:]
    return x.to(device), y.to(device)

meta_vocab_size = None
meta_path = os.path.join(data_dir, 'meta.pkl')
if os.path.exists(meta_path):
    with open(meta_path, 'rb') as f:
        meta_vocab_size = pickle.load(f)['vocab_size']
model_args = dict(n_layer=n_layer, n_head=n_head, n_embd=n_embd, block_size=block_size,
                  bias=bias, vocab_size=None, dropout=dropout)
model_args['vocab_size'] = meta_vocab_size if meta_vocab_size is not None else 1000
model = GPT(GPTConfig(**model_args))
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=momentum)

@torch.no_grad()
def validate():
    model.eval()
    losses = []
    for k in range(eval_iters):
        X, Y = get_batch()
        losses.append(model(X, Y)[1].item())
    model.train()
    return sum(losses) / len(losses)

for it in range(max_iters):
    if it % eval_interval == 0:
        print(validate())
    if it == 0 and eval_only:
        break
    optimizer.zero_grad(set_to_none=True)
    for micro_step in range(gradient_accumulation_steps):
        X, Y = get_batch()
        logits, loss = model(X, Y)
        (loss / gradient_accumulation_steps).backward()
    optimizer.step()
"""

CONFIGURATOR = """
import sys
from ast import literal_eval

for arg in sys.argv[1:]:
    if '=' not in arg:
        exec(open(arg).read())
    else:
        key, val = arg[2:].split('=')
        globals()[key] = literal_eval(val)
"""


def explained(
    folder: Path,
    config: str,
    *words: str,
    script: str = SCRIPT,
    meta: bool = False,
    loads: str = CONFIGURATOR,
    prepare: str | None = None,
    model: str = MODEL,
) -> dict[str, Any]:
    data = folder / "data" / "words"
    data.mkdir(parents=True, exist_ok=True)
    plain = "open('meta.pkl')" if meta else "pass"
    (data / "prepare.py").write_text(prepare or plain, encoding="utf-8")
    (folder / "model.py").write_text(model, encoding="utf-8")
    (folder / "configurator.py").write_text(loads, encoding="utf-8")
    (folder / "train.py").write_text(script, encoding="utf-8")
    path = folder / "config" / "train_words.py"
    path.parent.mkdir()
    path.write_text(config, encoding="utf-8")
    done = nanolint("explain", str(path), "--gpu", "a100-40gb", "--format", "json", *words)
    found: dict[str, Any] = json.loads(done.out)
    return found


def after(found: dict[str, Any], phase: str) -> int:
    return {each["name"]: int(each["allocated_bytes"]) for each in found["phases"]}[phase]


def test_a_changed_loop_is_read_with_the_values_of_the_config(tmp_path: Path) -> None:
    found = explained(tmp_path, "batch_size = 16\nn_embd = 128\n")
    assert (found["trust"], found["doubts"]) == ("read", [])
    parameters = 2 * 1000 * 128 + 2 * (128 * 128 + 128)
    logits = 16 * 128 * 1000 * 4
    # Weights, gradients and the momentum; the logits, their log-probabilities and a gradient.
    assert found["peak"]["allocated_bytes"] > 3 * 4 * parameters + 3 * logits
    assert after(found, "eval") < found["peak"]["allocated_bytes"]


def test_the_same_values_by_another_way_are_the_same_run(tmp_path: Path) -> None:
    by_config = explained(tmp_path / "a", "batch_size = 16\nblock_size = 64\n")
    by_word = explained(tmp_path / "b", "batch_size = 2\nblock_size = 64\n", "--set=batch_size=16")
    assert by_config["peak"] == by_word["peak"]


def test_an_optimizer_without_state_takes_less(tmp_path: Path) -> None:
    heavy = explained(tmp_path / "a", "batch_size = 2\nn_embd = 512\n")
    light = explained(tmp_path / "b", "batch_size = 2\nn_embd = 512\nmomentum = 0.0\n")
    parameters = 2 * 1000 * 512 + 2 * (512 * 512 + 512)
    saved = heavy["peak"]["allocated_bytes"] - light["peak"]["allocated_bytes"]
    assert 0 < saved <= 4 * parameters + 512 * 6


def test_a_batch_that_is_cut_behind_get_batch_is_doubted(tmp_path: Path) -> None:
    cut = SCRIPT.replace("logits, loss = model(X, Y)", "logits, loss = model(X[:4], Y[:4])")
    found = explained(tmp_path, "batch_size = 16\n", script=cut)
    assert found["trust"] == "doubted"
    assert "16x128 tokens; in the script it is 4x128" in " ".join(map(str, found["doubts"]))


def test_passes_that_are_not_those_of_the_setting_are_doubted(tmp_path: Path) -> None:
    twice = SCRIPT.replace("(loss / gradient", "model(X, Y)[1].backward(); (loss / gradient")
    found = explained(tmp_path, "batch_size = 16\n", script=twice)
    assert found["trust"] == "doubted"
    assert "4 passes per step; in the script it is 8" in " ".join(map(str, found["doubts"]))


def test_a_vocabulary_that_is_not_here_stays_unknown(tmp_path: Path) -> None:
    found = explained(tmp_path, "batch_size = 16\n", meta=True)
    assert found["trust"] == "unknown"


def test_a_vocabulary_that_is_told_is_that_of_the_model(tmp_path: Path) -> None:
    large = explained(tmp_path, "batch_size = 16\n", "--set=vocab_size=5000", meta=True)
    assert large["trust"] == "read"
    assert large["peak"]["allocated_bytes"] > 3 * 16 * 128 * 5000 * 4


def test_a_run_that_only_evaluates_has_no_gradients(tmp_path: Path) -> None:
    found = explained(tmp_path, "batch_size = 16\neval_only = True\n")
    assert (found["trust"], found["doubts"]) == ("read", [])
    names = [each["name"] for each in found["phases"]]
    assert "backward" not in names
    assert "optimizer" not in names


@pytest.mark.parametrize("unknown", ["batch_size = len(open('x').read())", "n_embd = int(input())"])
def test_what_only_a_run_tells_is_no_number(tmp_path: Path, unknown: str) -> None:
    assert explained(tmp_path, f"block_size = 64\n{unknown}\n")["trust"] == "unknown"


def test_a_draw_elsewhere_is_not_taken_for_the_same_place(tmp_path: Path) -> None:
    rows = "train_data[i : i + block_size + 1].astype(np.int64) for i in starts"
    other = SCRIPT.replace(
        rows, "train_data[i : j + block_size + 1].astype(np.int64) for i, j in zip(starts, starts)"
    )
    found = explained(tmp_path, "batch_size = 16\n", script=other)
    assert found["trust"] != "read"


@pytest.mark.parametrize(
    "loads", ["exec(open('config/other.py').read())\n", CONFIGURATOR + "\nbatch_size = 3\n"]
)
def test_a_configurator_of_its_own_makes_another_run(tmp_path: Path, loads: str) -> None:
    found = explained(tmp_path, "batch_size = 16\n", loads=loads)
    assert found["trust"] != "read"


def test_a_vocabulary_that_a_function_counts_is_that_of_the_model(tmp_path: Path) -> None:
    counted = (
        "def vocabulary():\n    return len({each for each in 'abcdefgh'}) * 100\n\nmodel_args ="
    )
    script = SCRIPT.replace("model_args =", counted, 1).replace(
        "meta_vocab_size if meta_vocab_size is not None else 1000", "vocabulary()"
    )
    found = explained(tmp_path, "batch_size = 16\n", script=script)
    same = explained(tmp_path / "same", "batch_size = 16\n", script=SCRIPT.replace("1000", "800"))
    assert found["trust"] == "read"
    assert found["peak"] == same["peak"]


def test_rows_that_numpy_converts_are_those_of_astype(tmp_path: Path) -> None:
    row = "train_data[i : i + block_size + 1]"
    script = SCRIPT.replace(f"{row}.astype(np.int64)", f"np.asarray({row}, dtype=np.int64)")
    found = explained(tmp_path, "batch_size = 16\n", script=script)
    same = explained(tmp_path / "same", "batch_size = 16\n")
    assert (found["trust"], found["peak"]) == ("read", same["peak"])


def test_the_evaluation_behind_the_loop_that_was_read_before_is_no_doubt(tmp_path: Path) -> None:
    again = f"{SCRIPT}\nprint(validate())\n"
    assert explained(tmp_path, "batch_size = 16\n", script=again)["trust"] == "read"


def test_why_a_script_cannot_be_read_comes_before_what_it_would_have_told(tmp_path: Path) -> None:
    script = SCRIPT.replace("x.to(device)", "torch.frobnicate(x).to(device)")
    found = explained(tmp_path, "batch_size = 16\n", script=script)
    reasons = [*(each["reason"] for each in found["unresolved"]), *found["doubts"]]
    assert "torch.frobnicate is not known" in reasons[0]


def test_a_progress_bar_gives_what_it_is_given(tmp_path: Path) -> None:
    script = "import pandas as pd\nfrom tqdm import tqdm\n" + SCRIPT.replace(
        "for k in range(eval_iters)", "for k in tqdm(range(eval_iters), desc='validation')"
    ).replace("if not k.startswith('_')", "if isinstance(v, (int, str))")
    found = explained(tmp_path, "batch_size = 16\n", script=script)
    same = explained(tmp_path / "same", "batch_size = 16\n")
    assert (found["trust"], found["peak"]) == ("read", same["peak"])


def test_what_a_configurator_does_behind_the_launch_line_is_read(tmp_path: Path) -> None:
    """A size that it computes from others is that of the model."""
    behind = CONFIGURATOR + "\nn_embd = globals()['n_head'] * 32\n"
    computed = explained(tmp_path / "a", "n_embd = 8\n", loads=behind)
    assert (computed["trust"], computed["doubts"]) == ("read", [])
    assert computed["peak"] == explained(tmp_path / "b", "n_embd = 128\n")["peak"]
    refuses = CONFIGURATOR + "\nassert n_head == 3, 'three heads'\n"
    refused = explained(tmp_path / "c", "n_embd = 8\n", loads=refuses)
    assert refused["trust"] != "read"


def test_a_loop_that_may_stop_at_a_loss_is_read(tmp_path: Path) -> None:
    stops = "        found = validate()\n        if np.isnan(found):\n"
    stops += "            raise Exception('NaN')"
    script = SCRIPT.replace("        print(validate())", stops)
    found = explained(tmp_path, "batch_size = 16\neval_interval = 50\n", script=script)
    assert (found["trust"], found["doubts"]) == ("read", [])


def test_a_variable_that_pytorch_reads_stays_in_doubt_where_the_script_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = explained(tmp_path, "batch_size = 16\n")
    assert (plain["trust"], plain["doubts"]) == ("read", [])
    words = ("TORCH_COMPILE_DISABLE=1", "python", "train.py", "config/train_words.py")
    monkeypatch.chdir(tmp_path)
    outcome = nanolint("explain", "--gpu", "a100-40gb", "--format", "json", "--", *words)
    told = json.loads(outcome.out)
    assert told["trust"] == "doubted"
    assert "TORCH_COMPILE_DISABLE" in told["doubts"][0]
