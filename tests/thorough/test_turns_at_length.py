"""A reading that is given up midway leaves nothing behind: the next says what a first one says.

These take seconds each.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from nanolint.tape.reading_lock import GaveWay, giving_way
from tests.thorough.test_worked_out import BATCH, COLUMNS, SCRIPT, forget, of, run_of, tape

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.tape.test_reading_lock import STEPS


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_what_was_given_up_is_read_as_if_for_the_first_time(
    tmp_path: Path, *, compiled: bool
) -> None:
    text = SCRIPT.format(more="", batch=BATCH)
    if compiled:
        text = text.replace("net = Net().to('cuda')", "net = torch.compile(Net().to('cuda'))")
    run = run_of(tmp_path, text)
    assert run is not None
    runs = [of(run, batch_size) for batch_size in (8, 16, 24, 32)]
    forget()
    alone = [tape(each) for each in runs]
    forget()
    given_up = 0
    for each in runs:
        for steps in STEPS:
            taken = count()
            try:
                with giving_way(lambda taken=taken, steps=steps: next(taken) >= steps):  # type: ignore[misc]
                    tape(each)
            except GaveWay:
                given_up += 1
        tape(each)
    assert given_up >= 2 * len(STEPS) - 1
    for each, expected in zip(runs, alone, strict=True):
        found = tape(each)
        assert not isinstance(expected, str)
        for column in COLUMNS:
            assert getattr(found, column) == getattr(expected, column)
