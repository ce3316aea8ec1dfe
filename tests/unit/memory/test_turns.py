"""A reading that is given up midway leaves nothing behind: the next says what a first one says."""

from __future__ import annotations

from itertools import count
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from nanolint.memory.turns import GaveWay, give_way, giving_way, resting, turn
from tests.tables.test_worked_out import BATCH, COLUMNS, SCRIPT, forget, of, run_of, tape

if TYPE_CHECKING:
    from pathlib import Path

STEPS = (0, 10, 50, 250, 400)


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


def test_what_rests_goes_on_afterwards() -> None:
    rests = iter([True, True, False])
    with giving_way(resting(lambda: False, lambda: next(rests))):
        give_way()
    assert next(rests, None) is None


def test_what_rests_can_be_ended() -> None:
    asked = count()
    with pytest.raises(GaveWay), giving_way(resting(lambda: next(asked) > 2, lambda: True)):
        give_way()


@pytest.mark.parametrize("rests", [False, True])
def test_it_ends_where_another_reading_waits(rests: bool) -> None:
    read = []

    def other() -> None:
        with turn():
            read.append("other")

    thread = Thread(target=other)
    is_begun = False
    is_to = resting(lambda: False, lambda: rests and is_begun)
    with pytest.raises(GaveWay), giving_way(is_to), turn():
        is_begun = True
        thread.start()
        while True:
            give_way()
    thread.join()
    assert read == ["other"]
