"""The cards that a run fits if nobody named one: those that it fits if each is named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.gpus.lookup import find
from nanolint.recording import recording
from nanolint.settings.targets import USUAL_CARDS
from nanolint.trainers.nanogpt.resolve import default_run
from nanolint.verdict.ladder import ladder
from nanolint.verdict.verdict import is_comfortable, judge

if TYPE_CHECKING:
    from nanolint.recording.recording import _Recipe
    from nanolint.tape.tape import Tape
    from nanolint.tensors.device import Asked

MACHINES = [find(name) for name in USUAL_CARDS]
RUN = default_run().having(compile=False, n_layer=2, n_head=4, n_embd=512, block_size=512)


@pytest.mark.parametrize("batch_size", [1, 45, 100, 190, 280, 640, 5000])
def test_they_are_those_that_are_told_of_each(batch_size: int) -> None:
    run = replace(RUN, batch_size=batch_size)
    told = ladder(run, MACHINES)
    assert told is not None
    assert told.first is None or is_comfortable(run, told.first)
    if told.below is not None:
        assert not is_comfortable(run, told.below)
        assert told.barely is judge(run, told.below).fits
    if told.first is not None:
        named = judge(run, told.first).process_bytes
        assert told.process_bytes == pytest.approx(named, rel=0.01)


def test_a_run_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    record = recording._Recipe.record

    def counted(self: _Recipe, asked: Asked) -> Tape:
        read.append(self.card)
        return record(self, asked)

    monkeypatch.setattr(recording._Recipe, "record", counted)
    run = replace(RUN, batch_size=3, block_size=576)
    told = ladder(run, MACHINES)
    assert told is not None
    assert told.first == find("rtx-4060")
    assert len(read) == 1
