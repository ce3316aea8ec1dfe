"""Every way to run nanoGPT, read from its texts: the bytes of PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.gpus.lookup import find
from nanolint.recording.events import write_own
from nanolint.recording.kernels import Kernels
from nanolint.recording.recording import card_of
from nanolint.run.run import Attention
from nanolint.script.played import representative
from nanolint.tape.allocator.play import play
from nanolint.tape.tape import Tape
from nanolint.tensors.device import Asked
from nanolint.trainers.nanogpt.own import own_script
from nanolint.verdict.ways.blocks import blocks_checkpointed
from nanolint.verdict.ways.logits import logits_deleted
from tests.support.rows import assert_row, each_row
from validation import accuracy

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.run.program import ReadScript
    from nanolint.verdict.ways.edited import Edited
    from nanolint.verdict.ways.logits import Deleted

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
WAYS = {str(row["name"]): row for row in accuracy.recorded("own_ways")}


@each_row("own_ways", WAYS)
def test_every_way_to_run_it_peaks_as_recorded(name: str) -> None:
    row = WAYS[name]
    gpu = find("rtx-4070").gpu
    changes = {**SMALL, **row["changes"]}
    if "attention" in changes:
        changes["attention"] = Attention(changes["attention"])
    if "text" in row:  # is another for it
        found = TEXTS[row["text"]](own_script())
        assert found is not None
        changes["program"] = found.program
    run = representative(accuracy.DEFAULT.having(**changes, compile=row["compile"]))
    tape = Tape()
    write_own(run, Kernels.of(run, gpu), Asked(card_of(gpu)), tape, compiled=row["compile"])
    figures = {phase: (peak, row[phase], 0.0) for phase, peak in accuracy.phase_peaks(tape).items()}
    figures["reserved"] = (play(tape).peak_reserved_bytes, row["reserved"], 0)
    assert_row(name, "by a model written by hand, and PyTorch 2.15", figures)
