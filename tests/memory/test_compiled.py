"""What a call of the compiled model allocates, keeps and frees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.gpus.gpu import Gpu
from nanolint.memory.compiled.graph import padded_elements
from nanolint.memory.compiled.program import Compiled
from nanolint.memory.compiled.reductions import column_sum_splits, fused_sum_splits
from nanolint.memory.model.gpt import GPT
from nanolint.memory.recording import allocated_peak
from nanolint.memory.shapes import Shapes
from nanolint.memory.tape import ROUNDING, Component, Phase, Tape, rounded
from nanolint.memory.tensors.asked import Asked, Card
from nanolint.memory.tensors.autograd import run_backward
from nanolint.memory.tensors.device import Device
from nanolint.memory.tensors.dtypes import FLOAT32, INT64
from nanolint.memory.tensors.role import role
from nanolint.memory.tensors.tensor import empty
from nanolint.memory.verdict.replay import replay
from nanolint.run.run import Attention, Run
from nanolint.trainers.nanogpt.resolve import default_run

if TYPE_CHECKING:
    from nanolint.memory.tensors.tensor import Tensor

GIB = 1 << 30
MIB = 1 << 20

SMALL = Shapes(
    batch_size=8,
    block_size=256,
    n_layer=3,
    n_head=4,
    n_embd=256,
    vocab_size=50304,
    dropout=False,
    bias=False,
    dtype="bfloat16",
    attention=Attention.FLASH,
    sm_count=46,
)


class Calls:
    """Calls of the compiled model on a card of their own, and what is alive behind them."""

    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes
        self.tape = Tape()
        self.device = Device(self.tape, asked=Asked(shapes.card))
        self.model = Compiled(GPT(self.device, shapes), self.device, shapes)

    def batch(self) -> Tensor:
        shape = self.shapes.batch_size, self.shapes.block_size
        return empty(self.device, shape, INT64, role("batch", Component.INPUTS))

    def forward(self) -> tuple[Tensor, Tensor]:
        return self.model(self.batch(), self.batch())  # type: ignore[no-any-return]

    def evaluate(self) -> tuple[Tensor, Tensor]:
        with self.device.no_grad():
            return self.forward()

    def backward(self, loss: Tensor) -> list[Tensor]:
        run_backward(loss, empty(self.device, (), FLOAT32, loss.role.gradient))
        gradients = [parameter.leaf.gradient for parameter in self.model.parameters()]
        return [each for each in gradients if each is not None]

    def live(self) -> list[tuple[str, int]]:
        """Name and bytes, rounded up, of what is alive; a double release is a KeyError."""
        alive = {}
        for event in self.tape.events:
            if event >= 0:
                alive[event] = self.tape.names[event], self.tape.sizes[event]
            else:
                del alive[~event]
        return sorted(alive.values())

    def at_peak(self, name: str) -> list[int]:
        """The bytes of each tensor of that name at the moment of the most live bytes."""
        alive: dict[int, int] = {}
        peak: dict[int, int] = {}
        for event in self.tape.events:
            if event >= 0:
                alive[event] = self.tape.sizes[event]
                if sum(alive.values()) > sum(peak.values()):
                    peak = dict(alive)
            else:
                del alive[~event]
        return [nbytes for handle, nbytes in peak.items() if self.tape.names[handle] == name]


def entries(*tensors: Tensor) -> list[tuple[str, int]]:
    """What ``live`` says of these."""
    return sorted(
        (each.role.describe(each.shape, each.dtype), rounded(each.nbytes)) for each in tensors
    )


VARIANTS = [
    SMALL,
    replace(SMALL, dropout=True),
    replace(SMALL, bias=True),
    replace(SMALL, dtype="float32", attention=Attention.EFFICIENT),
    replace(SMALL, dtype="float32", attention=Attention.EFFICIENT, bias=True, dropout=True),
    replace(SMALL, dtype="float16", attention=Attention.EFFICIENT, vocab_size=65),
    replace(SMALL, batch_size=1),
    replace(SMALL, batch_size=1, block_size=1, n_layer=1, n_head=1, n_embd=1, vocab_size=1),
    replace(SMALL, batch_size=32, block_size=1024, dropout=True, bias=True),
    replace(SMALL, batch_size=32, block_size=1024),
    replace(SMALL, batch_size=48, n_embd=512, bias=True, sm_count=8),  # sums are not split
    replace(SMALL, batch_size=48, n_embd=512, dropout=True, sm_count=8),
    replace(SMALL, n_head=3, n_embd=33, block_size=77, vocab_size=50257),
    replace(SMALL, vocab_size=65, dropout=True, bias=True, n_layer=12),
]


def sizes(live: list[tuple[str, int]]) -> list[int]:
    return sorted(nbytes for _, nbytes in live)


@pytest.mark.parametrize("shapes", VARIANTS)
def test_an_evaluation_leaves_only_its_outputs(shapes: Shapes) -> None:
    calls = Calls(shapes)
    outputs = calls.evaluate()
    assert sizes(calls.live()) == sizes(entries(*outputs))
    logits, loss = calls.evaluate()
    del outputs
    assert sizes(calls.live()) == sizes(entries(logits, loss))
    assert logits.nbytes == shapes.logits_bytes
    assert loss.nbytes == 4


@pytest.mark.parametrize("shapes", VARIANTS)
def test_a_backward_pass_leaves_only_gradients(shapes: Shapes) -> None:
    calls = Calls(shapes)
    logits, loss = calls.forward()
    gradients = calls.backward(loss)
    assert sizes(calls.live()) == sizes(entries(logits, loss, *gradients))
    parameters = calls.model.parameters()
    assert [each.nbytes for each in gradients] == [each.nbytes for each in parameters]
    before = calls.live()
    logits, loss = calls.forward()
    assert calls.backward(loss) == gradients  # the new ones are added to the old
    assert calls.live() == before


@pytest.mark.parametrize("shapes", VARIANTS)
def test_deleted_logits_live_until_the_backward_pass_has_read_them(shapes: Shapes) -> None:
    calls = Calls(shapes)
    logits, loss = calls.forward()
    whole = sizes(entries(logits))
    before = sizes(calls.live())
    del logits
    assert sizes(calls.live()) == before
    gradients = calls.backward(loss)
    assert sizes(calls.live()) == sizes(entries(loss, *gradients))
    assert whole[0] in before


@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_half_precision_saves_36_btc_a_layer_and_its_weight_copies(
    dropout: bool, bias: bool
) -> None:
    """The closed form of the trace, but for a layer's random state and the scalar of the loss."""
    shapes = replace(SMALL, dropout=dropout, bias=bias)
    calls = Calls(shapes)
    outputs = calls.forward()
    batch, time, c = shapes.batch_size, shapes.block_size, shapes.n_embd
    layers, tokens, vocabulary = shapes.n_layer, shapes.tokens, shapes.vocab_size
    layer = 36 * tokens * c + 4 * batch * shapes.n_head * time + 8 * tokens + 24 * c * c
    once = 6 * tokens * c + 16 * tokens + 4 * time * c + 8 * time
    head = 2 * tokens * vocabulary + 2 * vocabulary * c
    masks = (2 * layers + 1) * tokens * c if dropout else 0
    inputs = 2 * rounded(shapes.index_bytes)
    live = sum(sizes(calls.live())) - inputs - rounded(outputs[1].nbytes)
    assert live == layers * (layer + 2 * ROUNDING) + once + head + masks + ROUNDING


@pytest.mark.parametrize("dropout", [False, True])
def test_float32_saves_64_btc_a_layer_and_no_copies(dropout: bool) -> None:
    shapes = replace(SMALL, dtype="float32", attention=Attention.EFFICIENT, dropout=dropout)
    shapes = replace(shapes, attention_state=False)  # on the host, up to 2.13
    calls = Calls(shapes)
    outputs = calls.forward()
    tokens, c, layers = shapes.tokens, shapes.n_embd, shapes.n_layer
    layer = 64 * tokens * c + 4 * shapes.batch_size * shapes.n_head * shapes.block_size + 8 * tokens
    once = 8 * tokens * c + 16 * tokens + 4 * shapes.block_size * c + 8 * shapes.block_size
    masks = (2 * layers + 1) * tokens * c if dropout else 0
    inputs = 2 * rounded(shapes.index_bytes)
    live = sum(sizes(calls.live())) - inputs - rounded(outputs[1].nbytes)
    assert live == layers * layer + once + shapes.logits_bytes + masks + ROUNDING
    assert not any(name.startswith("copy of") for name, _ in calls.live())


def test_the_backward_pass_starts_with_three_logits_buffers() -> None:
    calls = Calls(SMALL)
    _logits, loss = calls.forward()
    calls.backward(loss)
    logits = "logits (B*T, V)"
    for name in (logits, "zeros for the logits", f"gradient of the {logits}"):
        assert calls.at_peak(name) == [SMALL.logits_bytes]


def test_an_unaligned_vocabulary_pads_the_rows_of_the_gradient() -> None:
    assert padded_elements(4, 1024, 50257, 2) == 4 * 1024 * 50304 - 47
    assert padded_elements(4, 512, 50257, 4) == 4 * 512 * 50272 - 15
    assert padded_elements(4, 1024, 50304, 2) == 4 * 1024 * 50304
    assert padded_elements(64, 256, 65, 2) == 64 * 256 * 65


def test_an_evaluation_peaks_with_one_weight_copy_alive() -> None:
    """The logits, their input and the half copy of wte: not two bytes for every parameter."""
    calls = Calls(SMALL)
    calls.evaluate()
    activation, copy = 2 * SMALL.tokens * SMALL.n_embd, 2 * SMALL.vocab_size * SMALL.n_embd
    assert calls.at_peak("copy of lm_head.weight (V, C)") == [copy]
    assert (
        allocated_peak(calls.tape) == 2 * SMALL.index_bytes + SMALL.logits_bytes + copy + activation
    )


@pytest.mark.parametrize(
    ("rows", "columns", "splits"),
    [(8192, 384, 64), (4096, 768, 32), (1024, 1280, 8), (3000, 384, 24), (1665, 320, 14)],
)
def test_column_sums_split_as_traced(rows: int, columns: int, splits: int) -> None:
    assert column_sum_splits(Card(46, 1536), rows, columns, None) == splits


@pytest.mark.parametrize(
    ("rows", "columns", "splits"),
    [(12288, 768, 384), (16384, 384, 512), (8192, 512, 0), (4096, 1024, 0), (2048, 4096, 0)],
)
def test_row_and_column_sums_share_a_kernel_as_traced(rows: int, columns: int, splits: int) -> None:
    assert fused_sum_splits(Card(46, 1536), rows, columns) == splits


RTX_4070 = Gpu(
    name="RTX 4070",
    vendor="nvidia",
    total_bytes=int(11.69 * GIB),
    nominal_bytes=12 * GIB,
    sm_count=46,
    compute_capability=(8, 9),
    estimated=False,
    source="the error message below",
)


def run(**changes: object) -> Run:
    gpt2 = default_run()
    return replace(gpt2, **changes)  # type: ignore[arg-type]


def test_a_real_failure_in_the_first_evaluation() -> None:
    """An RTX 4070 with 2 GiB in use: "Tried to allocate 6.14 GiB ... 6.78 GiB is allocated"."""
    limit = int((11.69 - 2 - 0.25) * GIB)
    oom = replay(run(batch_size=64), RTX_4070, limit_bytes=limit).oom
    assert oom is not None
    assert (oom.phase, oom.requested_bytes) == (Phase.EVAL, 6_593_445_888)
    assert oom.allocated_bytes == pytest.approx(6.78 * GIB, rel=0.01)


def test_a_real_process_in_steady_training() -> None:
    """nvidia-smi said 4464 MiB on an RTX 4070, of which 250 are the context."""
    shape = {"n_layer": 6, "n_head": 6, "n_embd": 384, "block_size": 512, "batch_size": 16}
    found = replay(run(dtype="float16", gradient_accumulation_steps=4, **shape), RTX_4070).peak
    assert found.allocated_bytes == pytest.approx(3559 * MIB, rel=0.01)
    assert found.reserved_bytes == pytest.approx((4464 - 250) * MIB, rel=0.05)
