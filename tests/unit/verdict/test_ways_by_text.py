"""Ways out that a script's text has to say: they take what the script takes that says it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.interpreter.values import Unread
from nanolint.recording.recording import allocated_bytes, record
from nanolint.run.program import FromRun, Placed, ReadScript, SourceText
from nanolint.script.settled import settled
from nanolint.trainers.script.sources import MAIN
from nanolint.verdict.alternatives import Alternatives
from nanolint.verdict.changes import Alternative, Cost
from nanolint.verdict.ways.blocks import blocks_checkpointed
from nanolint.verdict.ways.logits import logits_deleted, loss_in_chunks
from tests.support.runs import GPT2, card

if TYPE_CHECKING:
    from nanolint.run.run import Run

CARD = card("rtx-4070")
MODEL = """\
import torch
import torch.nn as nn
from torch.nn import functional as F

class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(x)))

class Net(nn.Module):
    def __init__(self, width, words):
        super().__init__()
        self.tokens = nn.Embedding(words, width)
        self.layers = nn.ModuleList([Layer(width) for _ in range(3)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, idx, targets=None):
        x = self.tokens(idx)
        for layer in self.layers:
            x = layer(x)
        x = self.norm(x)
        logits = self.head(x)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
        return logits, loss
"""
TRAIN = """\
import torch
from model import Net

size, dtype = 8, "bfloat16"
net = Net(64, 4000).to("cuda")
optimizer = torch.optim.AdamW(net.parameters())

def get_batch():
    x = torch.randint(4000, (size, 128))
    return x.to("cuda"), x.to("cuda")

@torch.no_grad()
def measure():
    for _ in range(5):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            logits, loss = net(*get_batch())
        print(loss.item())

for step in range(100):
    measure()
    x, y = get_batch()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        logits, loss = net(x, y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
CALLED = "logits, loss = net(*get_batch())", "logits, loss = net(x, y)"
CHECKPOINTED = "torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)"
IN_CHUNKS = """\
        logits = None
        loss = F.linear_cross_entropy(
            x.view(-1, x.size(-1)), self.head.weight, targets.view(-1),
            options=torch.nn.LinearCrossEntropyOptions(),
        )
"""
HEAD = MODEL[MODEL.index("        logits = ") : MODEL.index("        return logits")]


def program(train: str = TRAIN, model: str = MODEL) -> ReadScript:
    """The script, whose number of sequences follows the run."""
    start = train.index("8, ")
    values = (Placed(MAIN, start, start + 1, FromRun("batch_size")),)
    modules = (SourceText(MAIN, "train.py", train), SourceText("model", "model.py", model))
    return ReadScript(modules, values)


def run_of(script: ReadScript, batch_size: int = 64) -> Run:
    return replace(
        GPT2,
        batch_size=batch_size,
        gradient_accumulation_steps=1,
        block_size=128,
        compile=False,
        program=script,
    )


def ways(script: ReadScript, batch_size: int = 64) -> dict[str, Alternative]:
    """Those that the text has to say."""
    small = card("500MiB")
    told = ("del", "blocks", "F.")
    return {
        way.change: way
        for way in Alternatives(run_of(script, batch_size), small)
        if way.change.startswith(told)
    }


def typed(text: str, *changes: tuple[str, str]) -> str:
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    return text


def test_they_say_what_they_cost_and_the_loss_needs_2_13() -> None:
    found = ways(program())
    assert [way.cost for way in found.values()] == [Cost.SAME, Cost.SLOWER, Cost.NUMERICS]
    assert found["blocks in torch.utils.checkpoint"].price == "about a third more compute"
    older = replace(run_of(program()), torch=(2, 12))
    assert not [way for way in Alternatives(older, CARD) if "linear" in way.change]


def test_what_follows_the_run_follows_it_behind_an_edit_too() -> None:
    train = typed(
        TRAIN, ("size, dtype = 8", "logits, loss = net(x, y); loss.item(); size, dtype = 8")
    )
    train = f"x = y = net = 1\n{train}"
    found = logits_deleted(program(train))
    assert found is not None
    text = settled(found.program, run_of(found.program, 77)).modules[0].text
    assert "net(x, y); del logits; loss.item(); size, dtype = 77, " in text


@pytest.mark.parametrize(
    "changes",
    [
        [("loss.backward()", "print(logits.shape)\n    loss.backward()")],
        [("loss.backward()", "loss.backward()\n    del logits")],
        [("    measure()\n", "    measure()\n    if step: print(logits.mean())\n")],
        [(CALLED[1], "loss = net(x, y)[1]")],
    ],
)
def test_logits_that_are_read_or_deleted_are_left_alone(changes: list[tuple[str, str]]) -> None:
    found = logits_deleted(program(typed(TRAIN, *changes)))
    assert found is not None
    text = found.program.modules[0].text
    assert f"{CALLED[0]}; del logits" in text
    assert f"{CALLED[1]}; del logits" not in text


def test_logits_are_deleted_where_only_those_of_another_call_are_read() -> None:
    more = f"    {CALLED[0]}\n    print(logits.shape, loss.item())\n    x, y = get_batch()\n"
    found = logits_deleted(program(typed(TRAIN, ("    x, y = get_batch()\n", more))))
    assert found is not None
    text = found.program.modules[0].text
    assert f"{CALLED[1]}; del logits" in text
    assert f"{CALLED[0]}\n    print" in text


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        (
            "for i, layer in enumerate(self.layers):\n            x, _ = layer(x, scale=i)\n",
            "x, _ = torch.utils.checkpoint.checkpoint(layer, x, scale=i, use_reentrant=False)",
        ),
        (
            "for i in (0, 1):\n            x = self.layers[i](\n                x,\n           )\n",
            "x = torch.utils.checkpoint.checkpoint(self.layers[i], \n                x,\n"
            "           use_reentrant=False)",
        ),
    ],
)
def test_blocks_are_called_as_they_were(loop: str, expected: str) -> None:
    before = MODEL[MODEL.index("for layer in") : MODEL.index("        x = self.norm")]
    found = blocks_checkpointed(program(model=typed(MODEL, (before, loop))))
    assert found is not None
    assert found.paths == ("model.py",)
    text = found.program.modules[1].text
    assert expected in text
    assert "import torch; import torch.utils.checkpoint\n" in text


@pytest.mark.parametrize("call", [CHECKPOINTED, "layer(*x)", "F.gelu(x)"])
def test_what_is_no_plain_call_of_a_block_stays(call: str) -> None:
    assert blocks_checkpointed(program(model=typed(MODEL, ("layer(x)\n", f"{call}\n")))) is None


def test_a_head_outside_the_condition_makes_no_logits_under_it() -> None:
    loss = HEAD[HEAD.index("        loss") :].strip()
    guarded = f"        loss = None\n        if targets is not None:\n            {loss}\n"
    model = typed(MODEL, (f"        {loss}\n", guarded))
    found = loss_in_chunks(program(model=model))
    assert found is not None
    text = found.program.modules[1].text
    assert "logits = None if targets is not None else self.head(x)\n" in text
    tried = allocated_bytes(run_of(found.program), CARD.gpu)
    assert tried == allocated_bytes(
        run_of(program(model=typed(MODEL, (HEAD, IN_CHUNKS)))), CARD.gpu
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("        loss = F", "        logits = logits / 2\n        loss = F"),
        ("        loss = F", "        x = x.relu()\n        loss = F"),
        ("self.head = nn.Linear", "self.head = Layer"),
        ("targets.view(-1))", "targets.view(-1), weight=self.w)"),
        ("logits.view(-1, logits.size(-1))", "logits.transpose(1, 2)"),
        ("        loss = F", "        if self.training and print(x):\n            loss = F"),
    ],
)
def test_another_loss_is_not_taken_apart(before: str, after: str) -> None:
    assert loss_in_chunks(program(model=typed(MODEL, (before, after)))) is None


def test_logits_that_the_script_looks_at_are_not_left_out() -> None:
    train = typed(TRAIN, ("loss.backward()", "print(logits.shape)\n    loss.backward()"))
    assert not [name for name in ways(program(train)) if name.startswith("F.")]


def test_without_options_the_logits_are_made_as_before() -> None:
    plain = IN_CHUNKS.replace("            options=torch.nn.LinearCrossEntropyOptions(),\n", "")
    found = record(run_of(program(model=typed(MODEL, (HEAD, plain)))), CARD.gpu)
    assert max(found.sizes) == max(record(run_of(program()), CARD.gpu).sizes)
    chunked = record(run_of(program(model=typed(MODEL, (HEAD, IN_CHUNKS)))), CARD.gpu)
    assert max(found.sizes) > 2 * max(chunked.sizes)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Options()", "Options(batch_chunk_size=64)"),
        (
            "            options",
            "            linear_bias=x[0, 0, :1].expand(4000),\n            options",
        ),
        ("            options", "            reduction='sum',\n            options"),
    ],
)
def test_chunks_that_are_not_known_are_not_read(before: str, after: str) -> None:
    model = typed(MODEL, (HEAD, typed(IN_CHUNKS, (before, after))))
    with pytest.raises(Unread):
        record(run_of(program(model=model)), CARD.gpu)
