"""nanoGPT run eagerly, read from its texts, against what PyTorch allocates: to the byte."""

from __future__ import annotations

from typing import Any

from nanolint.tape.allocator.play import play
from tests.support.rows import assert_row, each_row
from validation.accuracy import phase_peaks, recorded, tape_of


def name_of(row: dict[str, Any]) -> str:
    keys = ("batch_size", "block_size", "n_layer", "n_head", "n_embd", "vocab_size", "dtype")
    return "-".join(str(row[key]) for key in (*keys, "attention", "dropout", "bias", "grad_accum"))


ROWS = {name_of(row): row for row in recorded("eager")}
ANEW = "python validation/record_eager.py NANOGPT --rows NUMBER"


def test_the_table_covers_what_it_promises() -> None:
    rows = list(ROWS.values())
    assert len(rows) >= 60
    for key, values in {
        "dtype": {"bfloat16", "float16", "float32"},
        "attention": {"flash", "efficient", "math"},
        "bias": {True, False},
    }.items():
        assert {row[key] for row in rows} == values
    assert {row["dropout"] > 0 for row in rows} == {True, False}
    assert min(row["grad_accum"] for row in rows) == 1 < max(row["grad_accum"] for row in rows)
    assert any(row["batch_size"] * row["block_size"] > 65_536 for row in rows)
    assert any(row["block_size"] % 2 for row in rows)
    assert any(row["n_embd"] // row["n_head"] % 8 for row in rows)


@each_row("eager", ROWS)
def test_an_eager_run_takes_what_pytorch_takes(name: str) -> None:
    row = ROWS[name]
    tape = tape_of(row, "eager")
    peaks = phase_peaks(tape)
    figures = {phase: (peak, row[phase], 0.0) for phase, peak in peaks.items()}
    figures["overall"] = (max(peaks.values()), row["overall"], 0)
    figures["reserved"] = (play(tape).peak_reserved_bytes, row["reserved"], 0)
    assert_row(name, ANEW, figures)
