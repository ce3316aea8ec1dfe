"""Cards that answer alike what a reading asks of them share its tape, and others do not.

These take seconds each.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.gpus.lookup import find
from nanolint.recording.recording import recorded
from nanolint.script.played import representative
from tests.unit.recording.test_asked import CARDS, RUN, sizes


@pytest.mark.parametrize("compiled", [False, True])
def test_a_shared_tape_is_that_of_each_card(compiled: bool) -> None:
    run = representative(replace(RUN, compile=compiled))
    tapes = {name: recorded(run, find(name).gpu).tape for name in CARDS}
    for name, tape in tapes.items():
        assert tape.sizes == sizes(name, compiled=compiled), name
    assert len({id(tape) for tape in tapes.values()}) < len(CARDS)
