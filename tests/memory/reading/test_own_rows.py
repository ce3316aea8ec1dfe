"""nanoGPT read from its texts: the bytes of PyTorch, and of the replay that knows it by heart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nanolint.gpus.lookup import find
from nanolint.memory.allocator.play import play
from nanolint.memory.loop.played import representative
from nanolint.memory.recording import write, write_own
from nanolint.memory.shapes import Shapes
from nanolint.memory.tape import Tape
from nanolint.run.run import Attention
from validation import accuracy

EAGER = accuracy.recorded("eager")
# Wide heads of memory-efficient attention on cards with little shared memory, which are doubted;
# and weights' copies that are released in another order.
OTHER_PEAK = ("2.2 head-96-eff-drop rtx-3060-12gb eager",)
OTHER_RESERVED = (
    *OTHER_PEAK, "2.2 head-128-eff-drop eager", "2.12 head-128-eff rtx-5090 eager",
)  # fmt: skip
RELEASES = [row for row in accuracy.recorded("releases") if not row["compile"]]


def name(row: dict[str, Any]) -> str:
    keys = ("batch_size", "block_size", "n_layer", "n_head", "n_embd", "vocab_size", "dtype")
    return str(row.get("name") or "-".join(str(row[key]) for key in (*keys, "attention")))


@pytest.mark.parametrize("row", EAGER, ids=name)
def test_an_eager_run_allocates_and_reserves_the_recorded_bytes(row: dict[str, Any]) -> None:
    tape = accuracy.read_tape_of(row, "eager")
    assert accuracy.phase_peaks(tape) == {phase: row[phase] for phase in accuracy.phase_peaks(tape)}
    assert play(tape).peak_reserved_bytes == row["reserved"]


@pytest.mark.parametrize("row", RELEASES, ids=name)
def test_so_does_one_of_another_release(row: dict[str, Any]) -> None:
    tape = accuracy.read_tape_of(row, "releases")
    found = accuracy.phase_peaks(tape)
    if row["name"] not in OTHER_PEAK:
        for phase, allocated in found.items():  # scalars of the optimizer differ
            error = 0.01 if phase == "optimizer" else 0
            assert allocated == pytest.approx(row[phase], rel=error, abs=0), phase
    if row["name"] not in OTHER_RESERVED:
        assert accuracy.reserved_by(row, tape) == row["reserved"]


SMALL: dict[str, Any] = {
    "batch_size": 4, "block_size": 128, "n_layer": 3, "n_head": 4, "n_embd": 128,
    "vocab_size": 512, "gradient_accumulation_steps": 8,
}  # fmt: skip
PRETRAINED: dict[str, Any] = {
    "init_from": "gpt2", "n_layer": 12, "n_head": 12, "n_embd": 768, "vocab_size": 50257,
    "bias": True, "batch_size": 1, "gradient_accumulation_steps": 1, "eval_iters": 1,
}  # fmt: skip
HOW = ("eager", "compiled")
VARIANTS: dict[str, dict[str, Any]] = {
    "float16 and its scaler": {"dtype": "float16"},
    "float32": {"dtype": "float32", "attention": Attention.EFFICIENT},
    "biases and dropout": {"bias": True, "dropout": 0.1},
    "an evaluation and nothing else": {"eval_only": True},
    "a checkpoint that is resumed": {"init_from": "resume"},
    "GPT-2's weights": {**PRETRAINED, "block_size": 1024},
    "GPT-2's weights, cropped": {**PRETRAINED, "block_size": 256},
    "no clipping": {"grad_clip": 0.0},
    "no later evaluation": {"eval_interval": 0},
    "an evaluation each step": {"eval_interval": 1, "max_iters": 100},
    "two steps": {"max_iters": 1, "eval_interval": 1},
    "logits that go": {"evaluation_deletes_logits": True, "training_deletes_logits": True},
    "five passes": {"gradient_accumulation_steps": 5},
}
WAYS = [
    *(pytest.param(of, how, id=f"{way}-{how}") for way, of in VARIANTS.items() for how in HOW),
    pytest.param({"checkpoints_blocks": True}, "eager", id="checkpointed blocks-eager"),
]


@pytest.mark.parametrize(("changes", "how"), WAYS)
def test_every_way_to_run_it_is_read_as_it_is_replayed(changes: dict[str, Any], how: str) -> None:
    compiled = how == "compiled"
    gpu = find("rtx-4070").gpu
    run = representative(replace(accuracy.DEFAULT, **{**SMALL, **changes}, compile=compiled))
    shapes, replayed, read = Shapes.of(run, gpu), Tape(), Tape()
    write(run, shapes, replayed, compiled=compiled)
    write_own(run, shapes, gpu, read, compiled=compiled)
    known = accuracy.phase_peaks(replayed)
    found = accuracy.phase_peaks(read)
    assert {phase: found[phase] for phase in known} == known
    assert play(read).peak_reserved_bytes == play(replayed).peak_reserved_bytes
