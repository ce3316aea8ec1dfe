"""Builds a small training project in a folder: a train.py of nanoGPT's kind, in our own words.

Nothing in it ever runs. Its loop holds the same tensors as nanoGPT's, and its model.py those of
nanoGPT's model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.files import door
from tests.support.model_text import MODEL

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SETTINGS = """\
out_dir = 'out'
eval_interval = 2000
log_interval = 1
eval_iters = 200
eval_only = False
always_save_checkpoint = True
init_from = 'scratch'
wandb_log = False
wandb_project = 'owt'
wandb_run_name = 'gpt2'
dataset = 'openwebtext'
gradient_accumulation_steps = 5 * 8
batch_size = 12
block_size = 1024
n_layer = 12
n_head = 12
n_embd = 768
dropout = 0.0
bias = False
learning_rate = 6e-4
max_iters = 600000
weight_decay = 1e-1
beta1 = 0.9
beta2 = 0.95
grad_clip = 1.0
decay_lr = True
warmup_iters = 2000
lr_decay_iters = 600000
min_lr = 6e-5
backend = 'nccl'
device = 'cuda'
dtype = 'bfloat16' if torch.cuda.is_available() and torch.cuda.is_bf16_supported() else 'float16'
compile = True
"""

IMPORTS = """\
import os, pickle
from contextlib import nullcontext
import numpy as np
import torch
from model import GPT, GPTConfig
"""

CONFIGURATOR_LINE = "exec(open('configurator.py').read())\n"

WORLD = """
if 'RANK' in os.environ:
    world = int(os.environ['WORLD_SIZE'])
    gradient_accumulation_steps //= world
    device = 'cuda:' + os.environ['LOCAL_RANK']
"""

CONTEXT = """
device_type = 'cuda' if 'cuda' in device else 'cpu'; \
ptdtype = {'float32': torch.float32, 'bfloat16': torch.bfloat16, 'float16': torch.float16}[dtype]; \
ctx = nullcontext() if device_type == 'cpu' else \
torch.amp.autocast(device_type=device_type, dtype=ptdtype)
"""

LOADER = """
def get_batch(part):
    corpus = np.memmap(os.path.join('data', dataset, part + '.bin'), dtype=np.uint16)
    starts = torch.randint(len(corpus) - block_size, size=(batch_size,))
    rows = [corpus[start : start + block_size + 1].astype(np.int64) for start in starts]
    inputs = torch.tensor([row[:-1] for row in rows])
    labels = torch.tensor([row[1:] for row in rows])
    inputs, labels = inputs.to(device), labels.to(device)
    return inputs, labels
"""

EVALUATION = """
@torch.no_grad()
def estimate_loss():
    means = {}
    for part in ('train', 'val'):
        total = 0.0
        for _ in range(eval_iters):
            inputs, labels = get_batch(part)
            with ctx:
                scores, error = model(inputs, labels)
            total += error.item()
        means[part] = total / eval_iters
    return means
"""

SETUP = """
names = os.path.join('data', dataset, 'meta.pkl')
letters = None
if os.path.isfile(names):
    with open(names, 'rb') as file:
        letters = pickle.load(file)['vocab_size']
model_args = {'n_layer': n_layer, 'n_head': n_head, 'n_embd': n_embd, 'block_size': block_size}
model_args['vocab_size'] = 50304 if letters is None else letters
model_args['bias'], model_args['dropout'] = bias, dropout
gptconf = GPTConfig(**model_args)
if init_from in ('scratch', 'resume'):
    model = GPT(gptconf)
elif init_from.startswith('gpt2'):
    model = GPT.from_pretrained(init_from, dict(dropout=dropout))
if block_size < model.config.block_size:
    model.crop_block_size(block_size)
model.to(device)
scaler = torch.cuda.amp.GradScaler(enabled=(dtype == 'float16'))
optimizer = model.configure_optimizers(weight_decay, learning_rate, (beta1, beta2), device_type)
if compile:
    model = torch.compile(model)
"""

LOOP = """
inputs, labels = get_batch('train')
for step in range(max_iters):
    if step % eval_interval == 0:
        means = estimate_loss()
        print(step, means)
    if step == 0 and eval_only:
        break
    for part in range(gradient_accumulation_steps):
        with ctx:
            scores, error = model(inputs, labels)
            error = error / gradient_accumulation_steps
        inputs, labels = get_batch('train')
        scaler.scale(error).backward()
    if grad_clip:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
"""

# Another backward pass for each that the settings say: it is read, with a doubt about its passes.
TWICE = LOOP.replace(
    "        scaler.scale", "        model(inputs, labels)[1].backward()\n        scaler.scale"
)

# How many steps there are stands in a file: the script cannot be read.
STEPS = "with open('steps.txt') as file:\n    max_iters = int(file.read())\n"

CONFIGURATOR = """\
import sys
for argument in sys.argv[1:]:
    if '=' in argument:
        key, value = argument[2:].split('=')
        globals()[key] = value
    else:
        exec(open(argument).read())
"""

SAMPLE = """\
import torch
from model import GPT
start = 'hello'
num_samples = 10
device = 'cuda'
exec(open('configurator.py').read())
print(GPT)
"""


def train_script(
    *,
    settings: str = SETTINGS,
    extra_settings: str = "",
    imports: str = IMPORTS,
    world: str = WORLD,
    context: str = CONTEXT,
    loader: str = LOADER,
    evaluation: str = EVALUATION,
    setup: str = SETUP,
    loop: str = LOOP,
) -> str:
    """The text of a train.py; replace a part to make it another one."""
    head = imports + settings + extra_settings + CONFIGURATOR_LINE
    return head + world + context + loader + setup + evaluation + loop


def write_project(root: Path, files: Mapping[str, str | bytes] | None = None) -> Path:
    """Write a project into ``root`` and return it. ``files`` add to it, or replace what it has."""
    tree: dict[str, str | bytes] = {
        "train.py": train_script(),
        "model.py": MODEL,
        "configurator.py": CONFIGURATOR,
        "sample.py": SAMPLE,
        ".git/HEAD": "ref: refs/heads/main\n",  # the search for train.py ends here
        **(files or {}),
    }
    for name, content in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    door.forget()
    return root
