"""Mistakes that are planted one at a time into ordinary loops: which rule names each.

Each dialect is a correct loop with slots. A mistake is other text in some of them; the same one is
planted into every dialect that has the slot.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from nanolint.gpus.lookup import find
from nanolint.linting.engine import lint
from nanolint.linting.setup import Setup
from nanolint.run.settled import Options
from tests.support.harness import CODES, RULES

if TYPE_CHECKING:
    from pathlib import Path

SPEAK = ("NL5", "NL308", "NL309", "NL310")
TRAINING = tuple(rule for rule in RULES if rule.code.startswith(SPEAK))

MODEL = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

WORDS, DIM, HEADS, ROWS, ACCUM, STEPS = {words}, 256, 4, 8, 4, 200


class Mix(nn.Module):
    def __init__(self, drop):
        super().__init__()
        self.drop = drop
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.out = nn.Linear(DIM, DIM)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        p = {p}
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=True)
        y = self.out(y.transpose(1, 2).reshape(b, t, DIM))
        return x + {dropped}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(WORDS, DIM)
        self.mix = Mix(0.1)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(DIM, WORDS)

    def forward(self, x, y):
        logits = {logits}
        return F.cross_entropy(logits.flatten(0, 1), y.flatten(){reduction})


{functions}


def batch():
    x = {drawn}
    return x[:, :-1], x[:, 1:]


net = Net().cuda()
"""
EVALUATE = """

{no_grad}
def evaluate():
    {evals}
    total = 0.0
    for _ in range(8):
        total = total + net(*batch()){item}
    {trains}
    return total / 8


"""
SCALER = (
    MODEL
    + """opt = torch.optim.AdamW(net.parameters(), lr=3e-4)
scaler = torch.amp.GradScaler("cuda")
{made}
"""
    + EVALUATE
    + """for step in range(STEPS):
    if step % 50 == 0:
        print(step, float(evaluate()))
    for part in range(ACCUM):
        with torch.autocast("cuda", torch.{half}):
            loss = net(*batch())
        {divide}
        scaler.scale(loss).backward()
        {early}
    {unscale}
    {clip}
    {rated}
    {step}
    scaler.update()
    {zero}
    {scheduled}
    {kept_at}
"""
)
PLAIN = (
    MODEL
    + "opt = torch.optim.AdamW(net.parameters(), lr=3e-4)\n{made}\n"
    + EVALUATE
    + """for step in range(STEPS):
    if step % 50 == 0:
        print(step, float(evaluate()))
    for part in range(ACCUM):
        with torch.autocast("cuda", torch.{half}):
            loss = net(*batch())
        {divide}
        loss.backward()
        {early}
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    {rated}
    {step}
    {zero}
    {scheduled}
    {kept_at}
"""
)
FUNCTIONS = (
    MODEL
    + EVALUATE
    + """class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        opt = self.opt
        {made}
        {kept}

    def one_pass(self):
        loss = self.net(*batch())
        {divide}
        loss.backward()
        return loss.detach()

    def finish(self):
        opt = self.opt
        {step}
        {zero}

    def one_step(self, step):
        opt = self.opt
        {fetched}
        if step % 50 == 0:
            print(step, float(evaluate()))
        for part in range(ACCUM):
            self.one_pass()
            {early}
        {rated}
        self.finish()
        {scheduled}


trainer = Trainer(net)
for step in range(STEPS):
    trainer.one_step(step)
    {kept_at}
"""
)
ACCELERATE = (
    MODEL.replace("import torch\n", "import torch\nfrom accelerate import Accelerator\n", 1)
    + """accelerator = Accelerator(mixed_precision="fp16")
opt = torch.optim.AdamW(net.parameters(), lr=3e-4)
net, opt = accelerator.prepare(net, opt)
{made}
"""
    + EVALUATE
    + """for step in range(STEPS):
    if step % 50 == 0:
        print(step, float(evaluate()))
    for part in range(ACCUM):
        loss = net(*batch())
        {divide}
        accelerator.backward(loss)
        {early}
    {clip_accelerated}
    {rated}
    {step}
    {zero}
    {scheduled}
    {kept_at}
"""
)
PARALLEL = PLAIN.replace(
    "net = Net().cuda()\n",
    """torch.distributed.init_process_group("nccl")
net = Net().cuda()
net = nn.parallel.DistributedDataParallel(net, device_ids=[0])
""",
)
DIALECTS = {
    "scaler": SCALER,
    "plain": PLAIN,
    "functions": FUNCTIONS,
    "accelerate": ACCELERATE,
    "parallel": PARALLEL,
}
CORRECT = {
    "p": "self.drop if self.training else 0.0",
    "dropped": "F.dropout(y, self.drop, self.training)",
    "logits": "self.head(self.drop(self.mix(self.table(x))))",
    "reduction": "",
    "no_grad": "@torch.no_grad()",
    "evals": "net.eval()",
    "item": ".item()",
    "trains": "net.train()",
    "half": "bfloat16",
    "divide": "loss = loss / ACCUM",
    "early": "pass",
    "unscale": "scaler.unscale_(opt)",
    "clip": "nn.utils.clip_grad_norm_(net.parameters(), 1.0)",
    "clip_accelerated": "accelerator.clip_grad_norm_(net.parameters(), 1.0)",
    "step": "opt.step()",
    "zero": "opt.zero_grad(set_to_none=True)",
    "functions": "",
    "words": "8192",
    "drawn": 'torch.randint(WORDS, (ROWS, 257), device="cuda")',
    "made": "",
    "kept": "",
    "fetched": "",
    "rated": "pass",
    "scheduled": "pass",
    "kept_at": "pass",
}
OF_SCALER = {"half": "float16", "step": "scaler.step(opt)"}

SAVE = "step % 50 == 49 and torch.save(dict(net=net.state_dict(), step=step{}), 'last.pt')"
READ = """\
import numpy as np

data = np.memmap("train.bin", dtype=np.uint16, mode="r")


def read():
    at = torch.randint(len(data) - 257, (ROWS,))
    return torch.stack([torch.from_numpy(data[i : i + 257].astype(np.int64)) for i in at]).cuda()
"""
FILE = {"functions": READ, "drawn": "read()"}

# The code that names it, and the slots that it changes; None: no rule names it so far.
MISTAKES: dict[str, tuple[str | None, dict[str, str]]] = {
    "nothing sets gradients back": ("NL504", {"zero": "pass"}),
    # Two steps in a row are to be seen, and one of the three that are read is the first.
    "gradients are set back after the first step alone": (
        None,
        {"zero": "step == 0 and opt.zero_grad()"},
    ),
    "half of the gradients are set back": (
        "NL504",
        {"zero": "[setattr(p, 'grad', None) for p in net.parameters() if p.ndim > 1]"},
    ),
    "the sum of means": ("NL503", {"divide": "pass"}),
    "the sum of means, if another name is divided": (
        "NL503",
        {"divide": "shown = loss / ACCUM"},
    ),
    "clips before it unscales": ("NL505", {"unscale": "pass"}),
    "clips values before it unscales": (
        "NL505",
        {"unscale": "pass", "clip": "nn.utils.clip_grad_value_(net.parameters(), 0.5)"},
    ),
    "clips, then unscales": (
        "NL505",
        {
            "unscale": "nn.utils.clip_grad_norm_(net.parameters(), 1.0)",
            "clip": "scaler.unscale_(opt)",
        },
    ),
    "clips scaled gradients of accelerate": (
        "NL505",
        {"clip_accelerated": "nn.utils.clip_grad_norm_(net.parameters(), 1.0)"},
    ),
    "attention drops in evaluation": ("NL506", {"p": "self.drop"}),
    "a function drops in evaluation": ("NL506", {"dropped": "F.dropout(y, self.drop)"}),
    "train() is missing": ("NL507", {"trains": "pass"}),
    "train() of another module": ("NL507", {"trains": "nn.Linear(2, 2).train()"}),
    "probabilities": ("NL516", {"logits": CORRECT["logits"] + ".softmax(-1)"}),
    "probabilities, cast": ("NL516", {"logits": f"F.softmax({CORRECT['logits']}, -1).float()"}),
    "evaluates with a graph": ("NL501", {"no_grad": "", "item": ""}),
    "a loss that keeps its graph": ("NL501", {"no_grad": "torch.manual_seed(0)\n\n", "item": ""}),
    "float16 and no scaler": ("NL512", {"half": "float16"}),
    "weights and a step": ("NL514", {"kept_at": SAVE.format("")}),
    "a narrow file": ("NL511", {**FILE, "words": "128256"}),
    "steps in each pass": ("NL517", {"early": "opt.step()", "step": "pass"}),
    "sets back in each pass": (
        "NL517",
        {"divide": "net.zero_grad()\n        " + CORRECT["divide"]},
    ),
    "sets back after each pass": ("NL517", {"early": "opt.zero_grad(set_to_none=False)"}),
}
# Where a mistake is none, or the loop is another one.
NOT_IN = {
    ("float16 and no scaler", "scaler"),
    ("steps in each pass", "scaler"),  # its scaler updates after the step
    ("clips values before it unscales", "plain"),
    ("weights and a step", "functions"),  # SGD
}


def script(dialect: str, slots: dict[str, str]) -> str:
    """The loop of a dialect with some slots filled otherwise."""
    of_dialect = OF_SCALER if dialect == "scaler" else {}
    return textwrap.dedent(DIALECTS[dialect].format(**{**CORRECT, **of_dialect, **slots}))


def found(folder: Path, text: str) -> set[str]:
    """The codes of the training rules that speak."""
    path = folder / "train.py"
    path.write_text(text, encoding="utf-8")
    targets = (find("a100-80gb"),)
    setup = Setup(rules=TRAINING, known_codes=CODES, targets=targets, options=Options())
    report = lint(text, path, setup)
    return {each.code for each in report.diagnostics if each.code.startswith(SPEAK)}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_correct_loop_is_silent(dialect: str, tmp_path: Path) -> None:
    assert found(tmp_path, script(dialect, {})) == set()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_correct_loop_of_a_compiled_model_is_silent(dialect: str, tmp_path: Path) -> None:
    text = script(dialect, {})
    compiled = text.replace("= Net().cuda()", "= torch.compile(Net().cuda())")
    assert compiled != text
    assert found(tmp_path, compiled) == set()


def test_an_optimizer_without_gradients_is_silent(tmp_path: Path) -> None:
    made = {"made": "other = torch.optim.AdamW(nn.Linear(2, 2).cuda().parameters())"}
    text = script("plain", {**made, "step": "opt.step(); other.step()"})
    assert "other.step()" in text
    assert found(tmp_path, text) == set()
    assert (
        found(tmp_path, text.replace("opt.step(); other.step()", "other.step()\n    opt.step()"))
        == set()
    )


PLANTED = [
    pytest.param(dialect, mistake, id=f"{dialect}: {mistake}")
    for mistake, (_, slots) in MISTAKES.items()
    for dialect, text in DIALECTS.items()
    if (mistake, dialect) not in NOT_IN and all(f"{{{slot}}}" in text for slot in slots)
]


@pytest.mark.parametrize(("dialect", "mistake"), PLANTED)
def test_a_planted_mistake_is_named(dialect: str, mistake: str, tmp_path: Path) -> None:
    code, slots = MISTAKES[mistake]
    assert found(tmp_path, script(dialect, slots)) == ({code} if code else set())


WRITTEN = """\
import math


def rate(at):
    if at < {warm}:
        return 3e-4 * (at + 1) / {warm}
    if at > {horizon}:
        return {low}
    left = 1 - (at - {warm}) / ({horizon} - {warm})
    return {low} + (3e-4 - {low}) * (1 - math.cos(math.pi * left)) / 2
"""
SETS = {"rated": "for group in opt.param_groups: group['lr'] = rate(step)"}
IMPORTED = {"functions": "from torch.optim import lr_scheduler as schedules"}
HELD = {"kept": "self.sched = sched", "fetched": "sched = self.sched"}


def written(horizon: int, warm: int = 20, low: float = 3e-5) -> dict[str, str]:
    """A cosine of the program's own, with a warm-up."""
    return {"functions": WRITTEN.format(horizon=horizon, warm=warm, low=low), **SETS}


def own(body: str) -> dict[str, str]:
    """Another rate of the program's own."""
    return {"functions": f"import math\n\n\ndef rate(at):\n    return {body}\n", **SETS}


def stepped(schedule: str, where: str = "scheduled") -> dict[str, str]:
    """A schedule of PyTorch's."""
    return {**IMPORTED, "made": f"sched = schedules.{schedule}", where: "sched.step()", **HELD}


def of_transformers(schedule: str) -> dict[str, str]:
    """A schedule of transformers'."""
    return {
        "functions": f"from transformers import {schedule.partition('(')[0]}",
        "made": f"sched = {schedule}",
        "scheduled": "sched.step()",
        **HELD,
    }


LINEAR = "LambdaLR(opt, lambda at: max(0.0, 1 - at / STEPS))"
COSINE = "SequentialLR(opt, [schedules.LinearLR(opt, 0.1, 1.0, 20), {}], [20])"
RATES: dict[str, tuple[str | None, dict[str, str]]] = {
    "ends in the warm-up": ("NL309", written(2000, 1000)),
    "ends in the warm-up of a lambda": (
        "NL309",
        stepped("LambdaLR(opt, lambda at: min(1.0, at / 1000))"),
    ),
    "ends in the warm-up of a cycle": (
        "NL309",
        stepped("OneCycleLR(opt, 3e-4, total_steps=5 * STEPS)"),
    ),
    "is 0 at first": ("NL309", own("3e-4 * min(1, at // 100)")),
    "ends in the decay": ("NL308", written(2000)),
    "ends in the decay of a sequence": (
        "NL308",
        stepped(COSINE.format("schedules.CosineAnnealingLR(opt, 2000)")),
    ),
    "ends in the decay of transformers": (
        "NL308",
        of_transformers("get_linear_schedule_with_warmup(opt, 10, 10 * STEPS)"),
    ),
    "ends long after the decay": ("NL308", written(100)),
    "steps a schedule in each pass": ("NL308", stepped(LINEAR, "early")),
    "rises again": ("NL310", stepped("CosineAnnealingLR(opt, 100)")),
    "rises again in its own function": (
        "NL310",
        own("1.5e-4 * (1 + math.cos(math.pi * at / 120))"),
    ),
    # Their twins, and rates that are meant as they are.
    "a cosine": (None, written(200)),
    "a cosine that ends a little later": (None, written(215)),
    "a linear decay": (None, stepped(LINEAR)),
    "a cycle": (None, stepped("OneCycleLR(opt, 3e-4, total_steps=STEPS)")),
    "a sequence": (None, stepped(COSINE.format("schedules.CosineAnnealingLR(opt, STEPS - 20)"))),
    "a cosine of transformers": (
        None,
        of_transformers("get_cosine_schedule_with_warmup(opt, 10, STEPS)"),
    ),
    "a constant rate after a warm-up": (
        None,
        stepped("LambdaLR(opt, lambda at: min(1.0, (at + 1) / 20))"),
    ),
    "warm restarts": (None, stepped("CosineAnnealingWarmRestarts(opt, 50)")),
    "warm restarts of its own": (
        None,
        own("1.5e-4 * (1 + math.cos(math.pi * (at % 80) / 80)) + 1e-6"),
    ),
    "several waves": (None, stepped("CosineAnnealingLR(opt, 30)")),
    "a plateau, then a decay": (
        None,
        own("3e-4 * min(1.0, (at + 1) / 20) * min(1.0, (STEPS - at) / 40)"),
    ),
    "a plateau, whose decay is another run's": (
        None,
        own("3e-4 * min(1.0, (at + 1) / 20) * min(1.0, (1000 - at) / 200)"),
    ),
    "steps": (None, own("3e-4 * 0.1 ** (at // 60)")),
    "steps of PyTorch": (None, stepped("MultiStepLR(opt, [60, 120])")),
    "an exponential decay": (None, own("3e-4 * 0.99 ** at")),
    "an exponential decay to a floor": (None, own("max(3e-5, 3e-4 * 0.97 ** at)")),
    "an inverse square root": (None, own("3e-4 * min((at + 1) / 20, ((at + 1) / 20) ** -0.5)")),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("rate", RATES)
def test_a_rate_is_named_if_it_misses_the_run(dialect: str, rate: str, tmp_path: Path) -> None:
    code, slots = RATES[rate]
    assert found(tmp_path, script(dialect, slots)) == ({code} if code else set())


FILES = {
    "a file of wide numbers": {**FILE, "functions": READ.replace("uint16", "uint32")},
    "a table that was padded": {**FILE, "words": "65600"},
    "a small table": FILE,
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("file", FILES)
def test_a_file_that_holds_all_tokens_is_silent(dialect: str, file: str, tmp_path: Path) -> None:
    words = {"words": "128256"} if "wide" in file else {}
    assert found(tmp_path, script(dialect, {**words, **FILES[file]})) == set()


EPOCHS = """\
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.distributed.init_process_group("nccl")
data = TensorDataset(torch.randint(8192, (3200, 257)))
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=8, sampler=sampler)


def learn(batch):
    (x,) = batch
    loss = net(x[:, :-1].cuda(), x[:, 1:].cuda())
    opt.zero_grad()
    loss.backward()
    opt.step()


"""
OF_EPOCHS = {
    "plain": "for epoch in range(3):\n    {told}\n    for batch in loader:\n        learn(batch)\n",
    "counted": (
        "for epoch in range(3):\n    {told}\n    for i, batch in enumerate(loader):\n"
        "        learn(batch)\n"
    ),
    "function": (
        "def once(epoch):\n    {told}\n    for batch in loader:\n        learn(batch)\n\n\n"
        "for epoch in range(3):\n    once(epoch)\n"
    ),
    "class": (
        "class Trainer:\n    def fit(self):\n        for self.epoch in range(3):\n"
        "            epoch = self.epoch\n            {told}\n            for batch in loader:\n"
        "                learn(batch)\n\n\nTrainer().fit()\n"
    ),
    "counter": (
        "epoch = 0\nwhile epoch < 3:\n    {told}\n    for batch in loader:\n        learn(batch)\n"
        "    epoch += 1\n"
    ),
}


@pytest.mark.parametrize("loop", OF_EPOCHS)
@pytest.mark.parametrize("tells", [False, True])
def test_a_sampler_is_named_that_is_told_no_epoch(loop: str, tells: bool, tmp_path: Path) -> None:
    model = MODEL.format(**CORRECT) + "opt = torch.optim.AdamW(net.parameters(), lr=3e-4)\n"
    told = "sampler.set_epoch(epoch)" if tells else "pass"
    text = model + EPOCHS + OF_EPOCHS[loop].format(told=told)
    assert found(tmp_path, text) == (set() if tells else {"NL515"})


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_checkpoint_with_its_optimizer_is_silent(dialect: str, tmp_path: Path) -> None:
    owner = "trainer.opt" if dialect == "functions" else "opt"
    slots = {"kept_at": SAVE.format(f", opt={owner}.state_dict()")}
    assert found(tmp_path, script(dialect, slots)) == set()
