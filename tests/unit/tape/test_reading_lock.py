"""A reading that is given up midway leaves nothing behind: the next says what a first one says."""

from __future__ import annotations

from itertools import count
from threading import Thread

import pytest

from nanolint.tape.reading_lock import GaveWay, give_way, giving_way, resting, turn

STEPS = (0, 10, 50, 250, 400)


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
