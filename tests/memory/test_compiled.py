"""What a call of the compiled model allocates, keeps and frees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.gpus.gpu import Gpu
from nanolint.memory.compiled.graph import padded_elements
from nanolint.memory.compiled.program import Compiled
from nanolint.memory.compiled.reductions import column_sum_splits, fused_sum_splits
from nanolint.memory.program import Inputs, Outputs, Shapes
from nanolint.memory.tape import Component, Phase
from nanolint.memory.verdict.replay import replay
from nanolint.run.run import Attention, Run
from nanolint.trainers.nanogpt.resolve import default_run

if TYPE_CHECKING:
    from nanolint.memory.tape import Plan

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


class Ledger:
    """A recorder that knows what is alive."""

    def __init__(self) -> None:
        self.live: dict[int, tuple[str, int]] = {}
        self.count = 0
        self.peak: dict[int, tuple[str, int]] = {}

    def alloc(self, nbytes: int, name: str, component: Component) -> int:
        assert nbytes > 0 and isinstance(component, Component)
        self.count += 1
        self.live[self.count] = (name, nbytes)
        if sum(n for _, n in self.live.values()) > sum(n for _, n in self.peak.values()):
            self.peak = dict(self.live)
        return self.count

    def free(self, *handles: int) -> None:
        for handle in handles:
            del self.live[handle]  # a double release is a KeyError

    def play(self, plan: Plan, slots: list[int]) -> None:
        made = zip(plan.nbytes, plan.names, plan.components, strict=True)
        requests = dict(zip(plan.slots, made, strict=True))
        for event in plan.events:
            if event >= 0:
                slots[event] = self.alloc(*requests[event])
            else:
                self.free(slots[~event])

    def phase(self, phase: Phase) -> None:
        pass

    def inputs(self, shapes: Shapes) -> Inputs:
        x = self.alloc(shapes.index_bytes, "X", Component.INPUTS)
        return Inputs(x, self.alloc(shapes.index_bytes, "Y", Component.INPUTS))

    def named(self, name: str) -> list[int]:
        return [nbytes for found, nbytes in self.peak.values() if found == name]


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


@pytest.mark.parametrize("shapes", VARIANTS)
def test_an_evaluation_leaves_only_its_outputs(shapes: Shapes) -> None:
    ledger = Ledger()
    program = Compiled(shapes, ledger)
    inputs = ledger.inputs(shapes)
    outputs = program.evaluate(inputs, None)
    assert set(ledger.live) == {*inputs, *outputs}
    again = program.evaluate(inputs, outputs)
    assert set(ledger.live) == {*inputs, *again}
    assert ledger.live[again.logits][1] == shapes.logits_bytes
    assert ledger.live[again.loss][1] == 4


@pytest.mark.parametrize("shapes", VARIANTS)
def test_a_backward_pass_leaves_only_gradients(shapes: Shapes) -> None:
    ledger = Ledger()
    program = Compiled(shapes, ledger)
    outputs: Outputs = program.forward(ledger.inputs(shapes), None)
    gradients = program.backward(None)
    assert set(ledger.live) == {*outputs, *gradients}
    sizes = [ledger.live[gradient][1] for gradient in gradients]
    assert sizes == [parameter.nbytes for parameter in shapes.parameters]
    second = program.forward(ledger.inputs(shapes), outputs)
    assert program.backward(gradients) == gradients
    assert set(ledger.live) == {*second, *gradients}


@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_half_precision_saves_36_btc_a_layer_and_its_weight_copies(
    dropout: bool, bias: bool
) -> None:
    """The closed form of the trace, but for 24 bytes of random state a layer and 4 of the loss."""
    shapes = replace(SMALL, dropout=dropout, bias=bias)
    ledger = Ledger()
    outputs = Compiled(shapes, ledger).forward(ledger.inputs(shapes), None)
    batch, time, c = shapes.batch_size, shapes.block_size, shapes.n_embd
    layers, tokens, vocabulary = shapes.n_layer, shapes.tokens, shapes.vocab_size
    layer = 36 * tokens * c + 4 * batch * shapes.n_head * time + 8 * tokens + 24 * c * c
    once = 6 * tokens * c + 16 * tokens + 4 * time * c + 8 * time
    head = 2 * tokens * vocabulary + 2 * vocabulary * c
    masks = (2 * layers + 1) * tokens * c if dropout else 0
    inputs, loss = 2 * shapes.index_bytes, ledger.live[outputs.loss][1]
    live = sum(nbytes for _, nbytes in ledger.live.values()) - inputs - loss
    assert live == layers * (layer + 24) + once + head + masks + 4


@pytest.mark.parametrize("dropout", [False, True])
def test_float32_saves_64_btc_a_layer_and_no_copies(dropout: bool) -> None:
    shapes = replace(SMALL, dtype="float32", attention=Attention.EFFICIENT, dropout=dropout)
    ledger = Ledger()
    outputs = Compiled(shapes, ledger).forward(ledger.inputs(shapes), None)
    tokens, c, layers = shapes.tokens, shapes.n_embd, shapes.n_layer
    layer = 64 * tokens * c + 4 * shapes.batch_size * shapes.n_head * shapes.block_size + 8 * tokens
    once = 8 * tokens * c + 16 * tokens + 4 * shapes.block_size * c + 8 * shapes.block_size
    masks = (2 * layers + 1) * tokens * c if dropout else 0
    inputs, loss = 2 * shapes.index_bytes, ledger.live[outputs.loss][1]
    live = sum(nbytes for _, nbytes in ledger.live.values()) - inputs - loss
    assert live == layers * (layer + 16) + once + shapes.logits_bytes + masks + 4
    assert not any(name.startswith("copy of") for name, _ in ledger.live.values())


def test_the_backward_pass_starts_with_three_logits_buffers() -> None:
    ledger = Ledger()
    program = Compiled(SMALL, ledger)
    program.forward(ledger.inputs(SMALL), None)
    program.backward(None)
    logits = "logits (B*T, V)"
    for name in (logits, "zeros for the logits", f"gradient of the {logits}"):
        assert ledger.named(name) == [SMALL.logits_bytes]


def test_an_unaligned_vocabulary_pads_the_rows_of_the_gradient() -> None:
    assert padded_elements(4, 1024, 50257, 2) == 4 * 1024 * 50304 - 47
    assert padded_elements(4, 512, 50257, 4) == 4 * 512 * 50272 - 15
    assert padded_elements(4, 1024, 50304, 2) == 4 * 1024 * 50304
    assert padded_elements(64, 256, 65, 2) == 64 * 256 * 65


def test_an_evaluation_peaks_with_one_weight_copy_alive() -> None:
    """The logits, their input and the half copy of wte: not two bytes for every parameter."""
    ledger = Ledger()
    Compiled(SMALL, ledger).evaluate(ledger.inputs(SMALL), None)
    activation, copy = 2 * SMALL.tokens * SMALL.n_embd, 2 * SMALL.vocab_size * SMALL.n_embd
    assert ledger.named("copy of lm_head.weight (V, C)") == [copy]
    peak = sum(nbytes for _, nbytes in ledger.peak.values())
    assert peak == 2 * SMALL.index_bytes + SMALL.logits_bytes + copy + activation


@pytest.mark.parametrize(
    ("rows", "columns", "splits"),
    [(8192, 384, 64), (4096, 768, 32), (1024, 1280, 8), (3000, 384, 24), (1665, 320, 14)],
)
def test_column_sums_split_as_traced(rows: int, columns: int, splits: int) -> None:
    assert column_sum_splits(rows, columns, 46) == splits


@pytest.mark.parametrize(
    ("rows", "columns", "splits"),
    [(12288, 768, 384), (16384, 384, 512), (8192, 512, 0), (4096, 1024, 0), (2048, 4096, 0)],
)
def test_row_and_column_sums_share_a_kernel_as_traced(rows: int, columns: int, splits: int) -> None:
    assert fused_sum_splits(rows, columns, 46) == splits


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
