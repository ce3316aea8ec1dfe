"""Whole files of the kinds that people write, read as they would run."""

from __future__ import annotations

import pytest

from nanolint.source.parse import parse
from nanolint.source.values import Known, Unknown

PRETRAIN = """\
# pretraining on eight cards
# 6 sequences * 512 positions * 4 steps * 8 cards = 98,304

wandb_log = True
wandb_run_name='small-web'

batch_size = 6
block_size = 512
gradient_accumulation_steps = 4 * 8

max_iters = 200_000
lr_decay_iters = max_iters
weight_decay = 2e-1
"""

CHARACTERS = """\
out_dir = 'out-poems'
eval_interval = 100 # often: it overfits soon
always_save_checkpoint = False
dataset = 'poems_char'
gradient_accumulation_steps = 1
batch_size = 48
block_size = 128 # characters
n_layer = 4
n_head = 4
n_embd = 256
dropout = 0.15
learning_rate = 2e-3
beta2 = 0.98
# device = 'cpu'
# compile = False
"""

FINETUNE = """\
import time

out_dir = 'out-poems'
wandb_run_name = 'tune-' + str(time.time())
init_from = 'gpt2-medium'
batch_size = 2
gradient_accumulation_steps = 16
learning_rate = 1e-5
decay_lr = False
"""

EVALUATE = """\
# evaluate {name}
batch_size = 4
eval_iters = 250 # more gives a better estimate
eval_only = True
wandb_log = False
init_from = '{name}'
"""

TRAIN = """\
\"\"\"A training script.\"\"\"
import os
from contextlib import nullcontext
import torch
from model import GPT

batch_size = 12
gradient_accumulation_steps = 5 * 8
dtype = 'bfloat16' if torch.cuda.is_available() else 'float16'
compile = True
config_keys = [k for k, v in globals().items() if isinstance(v, (int, str))]
exec(open('configurator.py').read())
config = {k: globals()[k] for k in config_keys}
if int(os.environ.get('RANK', -1)) != -1:
    gradient_accumulation_steps //= int(os.environ['WORLD_SIZE'])
print(f"tokens: {gradient_accumulation_steps * batch_size:,}")

def get_batch(split):
    ix = torch.randint(10, (batch_size,))
    return ix
"""


def test_a_pretraining_config() -> None:
    module = parse(PRETRAIN)
    assert module.dynamic == ()
    assert {
        key: value.value for key, value in module.final.items() if isinstance(value, Known)
    } == {
        "wandb_log": True,
        "wandb_run_name": "small-web",
        "batch_size": 6,
        "block_size": 512,
        "gradient_accumulation_steps": 32,
        "max_iters": 200_000,
        "lr_decay_iters": 200_000,
        "weight_decay": 0.2,
    }
    accumulation = module.assignments[4]
    assert [factor.value for factor in accumulation.factors] == [4, 8]
    assert [read.name for read in module.reads] == ["max_iters"]
    assert len(module.comments) == 2


def test_a_config_for_characters() -> None:
    module = parse(CHARACTERS)
    assert all(isinstance(value, Known) for value in module.final.values())
    assert "device" not in module.final
    assert [comment.own_line for comment in module.comments] == [False, False, True, True]


def test_a_finetuning_config_has_one_value_that_only_a_run_knows() -> None:
    module = parse(FINETUNE)
    unknown = {key: value for key, value in module.final.items() if isinstance(value, Unknown)}
    assert unknown == {
        "time": Unknown("an imported module"),
        "wandb_run_name": Unknown("calls time.time at run time"),
    }
    assert module.dynamic == ()


@pytest.mark.parametrize("name", ["gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl"])
def test_an_evaluation_config(name: str) -> None:
    final = parse(EVALUATE.format(name=name)).final
    assert final["init_from"] == Known(name)
    assert final["eval_only"] == Known(True)


def test_a_training_script_up_to_its_configurator_line() -> None:
    module = parse(TRAIN[: TRAIN.index("exec(")])
    assert "*" not in dict(module.dynamic)
    assert module.final["gradient_accumulation_steps"] == Known(40)
    assert module.final["dtype"] == Unknown(
        "calls torch.cuda.is_available at run time", ("bfloat16", "float16")
    )


def test_a_whole_training_script() -> None:
    module = parse(TRAIN)
    assert dict(module.dynamic)["*"] == "any name may be set at run time on line 12"
    assert isinstance(module.final["batch_size"], Unknown)
    assert [read.in_text for read in module.reads if read.name == "batch_size"] == [True, False]


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_newlines_change_nothing_but_offsets(newline: str) -> None:
    for text in (PRETRAIN, CHARACTERS, FINETUNE):
        module, other = parse(text), parse(text.replace("\n", newline))
        assert module.final == other.final
        assert [c.text for c in module.comments] == [c.text for c in other.comments]


def test_what_is_read_can_be_pickled_and_hashed_where_needed() -> None:
    import pickle

    module = parse(FINETUNE)
    assert pickle.loads(pickle.dumps(module)) == module
    assert len(set(module.comments) | set(module.reads) | {a.statement for a in module.assignments})
