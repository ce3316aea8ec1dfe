"""Models read from their own files and compiled, against what PyTorch 2.13 allocates for them.

These take seconds each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nanolint.gpus.lookup import find
from tests.unit.inductor.test_read_and_derived import LEFT, LOSS, ROWS, name_of
from validation.record_derived import figures, release_of
from validation.record_read import CARD, TORCH, case_of


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_a_read_model_peaks_in_each_phase_as_pytorch_compiles_it(row: dict[str, Any]) -> None:
    tape = case_of(row, compile=True).read(find(CARD).gpu, release_of(row))
    assert tape.doubts == []
    found = figures(tape)
    assert found.keys() > {"eval", "reserved"}
    assert found == {phase: row[phase] for phase in found}


@pytest.mark.parametrize("what", LEFT)
def test_what_a_model_leaves_on_an_attribute_is_handed_out_by_its_graph(what: str) -> None:
    row = next(row for row in ROWS if row["model"] == "llama")
    case = case_of(row, compile=True)
    (source,) = case.sources
    ending, more = LEFT[what]
    text = "import types\n" + source.text.replace(f"return logits, {LOSS}", ending)
    assert ending in text
    card = find(CARD).gpu
    tape = case._replace(sources=(replace(source, text=text),)).read(card, TORCH)
    assert tape.doubts == []
    plain = figures(case.read(card, TORCH))
    found = figures(tape)
    assert found["optimizer"] == plain["optimizer"] + more
    assert found["overall"] == plain["overall"] + more
