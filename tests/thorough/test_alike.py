"""Layers whose events are copied write what they would write if each were read."""

from __future__ import annotations

import gc
from dataclasses import replace
from textwrap import indent
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.gpus.lookup import find
from nanolint.interpreter.alike import Layers
from nanolint.recording.events import write_own, write_script
from nanolint.recording.kernels import Kernels
from nanolint.recording.recording import card_of
from nanolint.run.program import SourceText
from nanolint.tape.located import Located
from nanolint.tensors.device import Asked
from nanolint.trainers.nanogpt.own import own_script
from tests.support.runs import SMALL
from validation.read_models import MODELS, Case
from validation.record_read import TORCH

if TYPE_CHECKING:
    from collections.abc import Callable

GPU = find("rtx-4090").gpu
PLAIN = """\
def __init__(self, number):
    super().__init__()
    self.norm = nn.LayerNorm(64)
    self.up = nn.Linear(64, 128)
    self.down = nn.Linear(128, 64)
    self.drop = nn.Dropout(0.1)

def forward(self, x):
    return x + self.drop(self.down(F.gelu(self.up(self.norm(x)))))
"""
MODEL = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

SCALE = 2
SEEN = []
CALLS = 0

{above}
class Block(nn.Module):
{block}

class Model(nn.Module):
    def __init__(self, vocab_size):
        super().__init__()
        self.table = nn.Embedding(vocab_size, 64)
        self.layers = nn.ModuleList([Block(number) for number in range(6)])
        {init}

    def forward(self, idx, targets):
        x = self.table(idx)
        kept = 0
        for number, layer in enumerate(self.layers):
            {call}
        {behind}
        logits = x @ self.table.weight.t()
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())
"""


def text_of(
    block: str = PLAIN,
    call: str = "x = layer(x)",
    init: str = "pass",
    above: str = "",
    behind: str = "pass",
) -> str:
    return MODEL.format(
        block=indent(block, "    "), call=call, init=init, above=above, behind=behind
    )


def told(read: Callable[[], Located]) -> tuple[Any, ...]:
    """All of a tape, with the calls that its places are in counted from the first."""
    tape = read()
    calls: dict[int, int] = {}
    wheres = [
        each and (each.stack, calls.setdefault(each.call, len(calls))) for each in tape.wheres
    ]
    return tape.events, tape.sizes, tape.names, tape.components, tape.phases, tape.doubts, wheres


def one_by_one(read: Callable[[], Located], monkeypatch: pytest.MonkeyPatch) -> tuple[Any, ...]:
    with monkeypatch.context() as patched:
        patched.setattr(Layers, "look_at", lambda *_: None)
        return told(read)


def reader(
    text: str,
    *,
    dtype: str = "bfloat16",
    compiled: bool = False,
    torch: tuple[int, int] = TORCH,
) -> Callable[[], Located]:
    sources = (SourceText("model", "model.py", text),)
    built = {"vocab_size": 512}
    case = Case(sources, MODELS, "Model", None, built, 2, 64, 512, dtype, compile=compiled)
    run, script = case.run(torch), case.script()

    def read() -> Located:
        tape, asked = Located(), Asked(card_of(GPU))
        write_script(script, run, Kernels.of(run, GPU), asked, tape, compiled=compiled, gpu=GPU)
        return tape

    return read


class Counted:
    """How many calls of layers were copied."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from nanolint.inductor.derive.passes import Layer
        from nanolint.interpreter.repeated_layers import Planned

        self.played = 0
        for of, name in ((Planned, "play"), (Layer, "copy")):
            monkeypatch.setattr(of, name, self._counted(getattr(of, name)))

    def _counted(self, play: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any) -> Any:
            found = play(*arguments)
            self.played += found is not None
            return found

        return counted


# Layers that are copied whether they run as they are or in a graph.
COPIED = (
    pytest.param(text_of(), id="plain"),
    pytest.param(text_of(call="x = layer(x) + x"), id="kept"),
    pytest.param(text_of(init="self.layers[2].up.weight.requires_grad = False"), id="one frozen"),
    pytest.param(text_of(behind="x = x.detach()"), id="no gradient"),
)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize(
    "text",
    [
        *COPIED,
        pytest.param(text_of(init="self.layers.requires_grad_(False)"), id="all frozen"),
        pytest.param(text_of(call="x = layer(x) if number % 2 else x"), id="every other"),
        pytest.param(
            text_of(call="x = layer(x) if number < 3 else torch.cat([layer(x[:, :32])] * 2, 1)"),
            id="other shapes",
        ),
        pytest.param(text_of(PLAIN.replace("F.gelu", "above"), above="above = F.silu"), id="named"),
        pytest.param(
            text_of(
                PLAIN.replace("(self, x)", "(self, x, times)").replace("x +", "x * times +"),
                call="x = layer(x, 2 if number < 4 else 3)",
            ),
            id="a number, too",
        ),
    ],
)
def test_layers_that_are_copied_write_what_they_would(
    text: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = reader(text, dtype=dtype)
    expected = one_by_one(read, monkeypatch)
    counted = Counted(monkeypatch)
    assert told(read) == expected
    assert counted.played > 10


def changed(before: str, after: str, text: str = PLAIN) -> str:
    assert before in text
    return text.replace(before, after)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    "text",
    [
        *COPIED,
        pytest.param(text_of(call="x = layer(x) if number != 1 else x"), id="all but one"),
        pytest.param(
            text_of(
                PLAIN.replace("(self, x)", "(self, x, row)").replace("x +", "x * row +"),
                call="row = x.mean(-1, keepdim=True) if not number else row; x = layer(x, row)",
            ),
            id="a tensor, too",
        ),
        pytest.param(
            text_of(
                PLAIN.replace("(self, x)", "(self, x, rows)").replace("x +", "x * rows[0] +"),
                call="kept = kept if number else self.table.weight[:64]; x = layer(x, (kept, 1))",
            ),
            id="a pair with a weight that learns",
        ),
        pytest.param(
            text_of(
                PLAIN.replace("(self, x)", "(self, x, unused)"),
                init="self.register_buffer('unused', torch.ones(64))",
                call="x = layer(x, self.unused)",
            ),
            id="a buffer that it does not use",
        ),
        pytest.param(
            text_of(
                PLAIN.replace("self.norm(x)", "self.norm(x).softmax(-1)").replace(
                    "x + ", "torch.cat([x, x], -1).chunk(2, -1)[0] + "
                )
            ),
            id="other operations",
        ),
        pytest.param(
            text_of(
                changed("return x + ", "x = x + ") + "    return x[:, :, :32].repeat(1, 1, 2)\n"
            ),
            id="a view at its end",
        ),
        pytest.param(
            text_of(behind="x = x + F.linear(x, self.layers[5].up.weight).mean()"),
            id="a weight's copy elsewhere",
        ),
    ],
)
def test_layers_that_are_copied_in_a_graph_make_the_same(
    text: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = reader(text, dtype=dtype, compiled=True)
    expected = one_by_one(read, monkeypatch)
    counted = Counted(monkeypatch)
    assert told(read) == expected
    assert counted.played >= 1


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            text_of(changed("return x", "self.seen = x\n    return x")), id="keeps its input"
        ),
        pytest.param(
            text_of(changed("return x", "SEEN.append(x.detach() * 2)\n    return x")), id="a list"
        ),
        pytest.param(
            text_of(
                changed(
                    "return x",
                    "global CALLS\n    CALLS += 1\n    x = x * 2 if CALLS % 3 else x\n    return x",
                )
            ),
            id="counts",
        ),
        pytest.param(
            text_of(
                changed("return x", "x = x * 2 if SCALE == 2 else x + SCALE\n    return x"),
                call="global SCALE; SCALE = number // 3; x = layer(x)",
            ),
            id="a constant that changes",
        ),
        pytest.param(
            text_of(
                changed("return x", "x = x * 2 if Block.many else x\n    return x"),
                call="Block.many = number > 2; x = layer(x)",
                above="",
            ),
            id="an attribute of its class",
        ),
        pytest.param(
            text_of(changed("return x", "x.mul_(2)\n    return x"), call="x = layer(x * 1)"),
            id="in place",
        ),
        pytest.param(
            text_of(changed("x +", "(F.relu(x, True) * x) +"), call="x = layer(x * 1)"),
            id="in place, by its place",
        ),
        pytest.param(
            text_of(
                changed("self.drop = nn", "self.number = number\n    self.drop = nn").replace(
                    "return x", "x = x * 2 if self.number > 3 else x\n    return x"
                )
            ),
            id="a number of its own",
        ),
        pytest.param(text_of(changed("return x + ", "return x, ")), id="a tuple"),
        pytest.param(
            text_of(call="layer.drop.p = 0.0 if number % 2 else 0.5; x = layer(x)"),
            id="settings that change",
        ),
        pytest.param(text_of(call="kept = layer(x) + kept", behind="x = kept"), id="all of one"),
        pytest.param(
            text_of(init="for each in self.layers: each.up.weight = self.layers[0].up.weight"),
            id="shared weights",
        ),
        pytest.param(text_of(call="x = layer(layer(x))"), id="each twice"),
        pytest.param(
            text_of(call="x = layer(x)", behind="for each in self.layers: x = each(x)"),
            id="all twice",
        ),
        pytest.param(
            text_of(behind="x = x + self.layers[4].up.weight.mean()"), id="a weight elsewhere"
        ),
        pytest.param(
            text_of(behind="x = x + F.linear(x, self.layers[4].up.weight).mean()"),
            id="a weight's copy elsewhere",
        ),
        pytest.param(
            text_of(call="kept = x if number == 1 else kept; x = layer(x)", behind="x = x + kept"),
            id="a layer's input later",
        ),
        pytest.param(
            text_of(
                "training_calls = 0\n"
                + changed("return x", "x = x * self.gain\n    return x").replace(
                    "    self.drop", "    self.gain = torch.ones(64)\n    self.drop"
                ),
            ),
            id="a tensor that is no parameter",
        ),
    ],
)
def test_what_does_more_than_compute_is_read_each_time(
    text: str, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = reader(text, dtype="bfloat16", compiled=compiled)
    try:
        expected = one_by_one(read, monkeypatch)
    except Exception as error:
        with pytest.raises(type(error)):
            told(read)
    else:
        assert told(read) == expected


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("torch", [(2, 4), (2, 9), (2, 13), (2, 15)])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text_of(call="x = CHECKPOINT"), id="plain"),
        pytest.param(text_of(call="x = CHECKPOINT + x"), id="kept"),
        pytest.param(
            text_of(call="x = CHECKPOINT", init="self.layers[2].up.weight.requires_grad = False"),
            id="one frozen",
        ),
        pytest.param(text_of(call="x = CHECKPOINT if number % 2 else layer(x)"), id="every other"),
        pytest.param(
            text_of(
                changed("return x", "x = x * 2 if SCALE == 2 else x + SCALE\n    return x"),
                call="global SCALE; SCALE = number // 3; x = CHECKPOINT",
            ),
            id="a constant that changes",
        ),
    ],
)
def test_layers_that_are_computed_again_are_copied(
    text: str, torch: tuple[int, int], reentrant: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for the numbers of the calls that compute them again, which no line is told by."""
    again = f"torch.utils.checkpoint.checkpoint(layer, x, use_reentrant={reentrant})"
    text = "import torch.utils.checkpoint\n" + text.replace("CHECKPOINT", again)
    read = reader(text, dtype="bfloat16", torch=torch)
    *expected, places = one_by_one(read, monkeypatch)
    counted = Counted(monkeypatch)
    *copied, copied_places = told(read)
    assert copied == expected
    assert [each and each[0] for each in copied_places] == [each and each[0] for each in places]
    assert counted.played > 5


def test_what_comes_behind_a_backward_pass_is_not_told_at_a_line_that_it_ran_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    again = "x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)"
    text = "import torch.utils.checkpoint\n" + text_of(call=again)
    for read in (reader(text), reader(text)):
        tape = read()
        places = [
            where for name, where in zip(tape.names, tape.wheres, strict=True)
            if where and "gradient norm" in name
        ]  # fmt: skip
        assert places
        assert {line.path for where in places for line in where.stack} == {"train.py"}
        monkeypatch.setattr(Layers, "look_at", lambda *_: None)


@pytest.mark.parametrize("world_size", [1, 2])
@pytest.mark.parametrize("dropout", [0.0, 0.1])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_nanogpt_read_so_writes_the_same(
    world_size: int, dropout: float, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = SMALL.having(
        n_layer=5, compile=False, world_size=world_size, dropout=dropout, dtype=dtype,
        gradient_accumulation_steps=8, bias=dropout > 0,
    )  # fmt: skip

    def read() -> Located:
        tape = Located()
        write_own(run, Kernels.of(run, GPU), Asked(card_of(GPU)), tape, compiled=False)
        return tape

    expected = one_by_one(read, monkeypatch)
    counted = Counted(monkeypatch)
    assert told(read) == expected
    assert (counted.played > 10) is (world_size == 1)  # DDP takes each gradient as it comes


FAILS = """
def kind(split):
    import json
    meta = os.path.join(split, "meta.json")
    if os.path.exists(meta):
        with open(meta) as file:
            return np.dtype(json.load(file).get("dtype", "uint16"))
    return np.uint16


def get_batch(split):
    kind(split)
"""


@pytest.mark.parametrize("collects", [True, False])
def test_what_cannot_be_read_holds_nothing_until_python_looks_for_garbage(
    collects: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = own_script()
    train = replace(
        own.modules[0], text=changed("def get_batch(split):", FAILS, own.modules[0].text)
    )
    monkeypatch.setattr(
        "nanolint.trainers.nanogpt.own.own_script",
        lambda: replace(own, modules=(train, *own.modules[1:])),
    )
    run = replace(SMALL, compile=False, gradient_accumulation_steps=8)
    tape = Located()
    before = gc.get_threshold()
    try:
        gc.set_threshold(1 if collects else 0)
        write_own(run, Kernels.of(run, GPU), Asked(card_of(GPU)), tape, compiled=False)
    finally:
        gc.set_threshold(*before)
    plain = Located()
    monkeypatch.setattr("nanolint.trainers.nanogpt.own.own_script", lambda: own)
    write_own(run, Kernels.of(run, GPU), Asked(card_of(GPU)), plain, compiled=False)
    assert tape.events == plain.events
