"""Frames in one piece: calls ask the system for no memory, however deep they are."""

from __future__ import annotations

import pytest

from nanolint.frames import in_one_piece

resource = pytest.importorskip("resource", reason="Windows does not count page faults")

TURNS = 200
DEPTHS = 400  # of calls in each other: several pieces of frames


def add(one: int, other: int) -> int:
    return one + other


def calls_at_each_depth(depth: int) -> int:
    total = 0
    for turn in range(TURNS):
        total = add(total, turn)
    return total if not depth else calls_at_each_depth(depth - 1)


@in_one_piece
def roomy(*, depth: int) -> int:
    """Its calls have room."""
    return calls_at_each_depth(depth)


def page_faults() -> int:
    found: int = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    return found


def test_a_loop_of_calls_takes_no_new_memory_at_any_depth() -> None:
    before = page_faults()
    assert roomy(depth=DEPTHS) == sum(range(TURNS))
    assert page_faults() - before < TURNS  # one turn of one loop at a bad depth takes one at least


def test_a_function_stays_what_it_is() -> None:
    assert roomy.__doc__ == "Its calls have room."
    assert in_one_piece(add) is add
    assert add(1, other=2) == 3
    with pytest.raises(TypeError):
        roomy(1)  # type: ignore[call-arg]
