"""nanoGPT read from its texts: the bytes of PyTorch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.gpus.lookup import find
from nanolint.memory.allocator.play import play
from nanolint.memory.events import write_own
from nanolint.memory.loop.played import representative
from nanolint.memory.recording import card_of
from nanolint.memory.shapes import Shapes
from nanolint.memory.tape import Tape
from nanolint.memory.tensors.asked import Asked
from nanolint.memory.verdict.ways.blocks import blocks_checkpointed
from nanolint.memory.verdict.ways.logits import logits_deleted
from nanolint.run.run import Attention
from nanolint.trainers.nanogpt.own import own_script
from validation import accuracy

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.memory.verdict.ways.edited import Edited
    from nanolint.memory.verdict.ways.logits import Deleted
    from nanolint.run.program import ReadScript

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
    tape = accuracy.tape_of(row, "eager")
    assert accuracy.phase_peaks(tape) == {phase: row[phase] for phase in accuracy.phase_peaks(tape)}
    assert play(tape).peak_reserved_bytes == row["reserved"]


@pytest.mark.parametrize("row", RELEASES, ids=name)
def test_so_does_one_of_another_release(row: dict[str, Any]) -> None:
    tape = accuracy.tape_of(row, "releases")
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
# Every way to run nanoGPT, and what a model of its allocations that was written by hand, and held
# to PyTorch's in every recorded row, made of it. Compiled with biases, it is what 2.15 was traced
# with (evaluations, and what is reserved with GPT-2's weights): there that model took more.
TEXTS: dict[str, Callable[[ReadScript], Edited | Deleted | None]] = {
    "logits_deleted": logits_deleted,
    "blocks_checkpointed": blocks_checkpointed,
}
WAYS = accuracy.recorded("own_ways")


@pytest.mark.parametrize("row", WAYS, ids=name)
def test_every_way_to_run_it_peaks_as_recorded(row: dict[str, Any]) -> None:
    gpu = find("rtx-4070").gpu
    changes = {**SMALL, **row["changes"]}
    if "attention" in changes:
        changes["attention"] = Attention(changes["attention"])
    if "text" in row:  # is another for it
        found = TEXTS[row["text"]](own_script())
        assert found is not None
        changes["program"] = found.program
    run = representative(replace(accuracy.DEFAULT, **changes, compile=row["compile"]))
    tape = Tape()
    write_own(run, Shapes.of(run, gpu), Asked(card_of(gpu)), tape, compiled=row["compile"])
    peaks = accuracy.phase_peaks(tape)
    assert peaks == {phase: row[phase] for phase in peaks}
    assert play(tape).peak_reserved_bytes == row["reserved"]
