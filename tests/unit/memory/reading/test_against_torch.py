"""Models that are read, against what PyTorch allocated for the same text (validation/models)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.gpus.lookup import find
from nanolint.run.program import FromRun, ReadModel, SourceText
from nanolint.tape.moments import summits
from validation.accuracy import recorded
from validation.read_models import MODELS
from validation.record_read import CARD, configs

if TYPE_CHECKING:
    from nanolint.tape.tape import Phase, Tape

ROWS = recorded("read")
GPU = find(CARD).gpu
FIELDS = ("block_size", "vocab_size", "n_layer", "n_head", "n_embd", "dropout", "bias")
GPT = ReadModel(
    (SourceText("gpt", "gpt.py", (MODELS / "gpt.py").read_text(encoding="utf-8")),),
    "GPT",
    tuple((field, FromRun(field)) for field in FIELDS),
    "GPTConfig",
)


def test_the_table_holds_the_rows_of_its_recorder() -> None:
    assert [row["name"] for row in ROWS] == [row["name"] for row in configs()]


def peaks(tape: Tape) -> dict[Phase, int]:
    """What each phase allocates at its peak."""
    tops = summits(tape, end=len(tape.events))
    return {phase: top for phase, (top, _) in tops.items()}
