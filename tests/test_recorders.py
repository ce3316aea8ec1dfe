"""What of the oracles needs no torch: the tables' configs, the log as text, the allocator."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanolint.memory.allocator import play as nanolints
from nanolint.memory.tape import Component, Tape
from validation import record_compiled, record_eager
from validation.accuracy import recorded
from validation.counting.allocator import MIB, OutOfMemory, least_limit, play
from validation.counting.card import Event, Kind
from validation.counting.peaks import phase_peaks, text

SIZES = st.one_of(
    st.integers(1, 4 * 512),
    st.integers(MIB - 600, MIB + 600),
    st.integers(1, 9 * MIB),
    st.integers(9 * MIB, 60 * MIB),
)


def logged(*sizes: int) -> list[Event]:
    """An allocation of each positive size; -n releases the n-th."""
    events, number = [], 0
    for size in sizes:
        if size > 0:
            number += 1
            events.append(Event(Kind.ALLOCATION, number, size))
        else:
            events.append(Event(Kind.RELEASE, -size, 0))
    return events


@st.composite
def logs(draw: st.DrawFn) -> list[Event]:
    sizes: list[int] = []
    live: list[int] = []
    for number in range(1, draw(st.integers(1, 30)) + 1):
        sizes.append(draw(SIZES))
        live.append(number)
        for released in draw(st.lists(st.sampled_from(live), unique=True, max_size=2)):
            live.remove(released)
            sizes.append(-released)
    return logged(*sizes)


def tape(events: list[Event]) -> Tape:
    """The same events as nanolint's replay writes them."""
    same = Tape()
    for event in events:
        if event.kind is Kind.ALLOCATION:
            same.alloc(event.bytes, "", Component.ACTIVATIONS)
        else:
            same.free(event.number - 1)
    return same


@pytest.mark.parametrize(
    ("table", "configs"),
    [("eager", record_eager.generate(72)), ("compiled", record_compiled.configs())],
)
def test_the_recorded_tables_hold_the_configs_that_the_recorders_make(
    table: str, configs: list[dict[str, object]]
) -> None:
    rows = recorded(table)
    assert len(configs) == len(rows)
    for config, row in zip(configs, rows, strict=True):
        assert list(row.items())[: len(config)] == list(config.items())


def test_the_rows_that_say_a_least_limit_are_those_that_are_asked_for_it() -> None:
    rows = recorded("compiled")
    assert {row["name"] for row in rows if "least_limit" in row} == record_compiled.LIMITED


def test_a_row_that_differs_is_told_by_its_figures() -> None:
    row: dict[str, Any] = recorded("compiled")[0]
    assert record_compiled.differences(row, row) == ""
    other = row | {"reserved": 1}
    assert record_compiled.differences(other, row) == f"reserved: 1, not {row['reserved']}"


def test_a_log_is_written_one_event_a_line() -> None:
    events = [Event(Kind.PHASE, 0, 0), *logged(700, -1)]
    assert text(events, ["eval"]) == "# eval\n+1 700\n-1\n"


def test_a_phase_peaks_at_the_most_rounded_bytes_live_after_its_allocations() -> None:
    events = logged(700, 512, -1, 1)
    events.insert(3, Event(Kind.PHASE, 1, 0))
    events.insert(0, Event(Kind.PHASE, 0, 0))
    assert phase_peaks(events, ["eval", "forward"]) == {"eval": 1536, "forward": 1024}


def test_the_least_limit_is_survived_because_cached_segments_are_given_back() -> None:
    events = logged(30 * MIB, -1, 40 * MIB)
    assert play(events).reserved == 70 * MIB
    assert least_limit(events) == 40 * MIB


@settings(deadline=None)
@given(logs())
def test_the_least_limit_is_survived_and_a_step_less_is_not(events: list[Event]) -> None:
    least = least_limit(events)
    play(events, least)
    with pytest.raises(OutOfMemory):
        play(events, least - 2 * MIB)


@settings(deadline=None)
@given(logs())
def test_two_allocators_written_apart_reserve_the_same(events: list[Event]) -> None:
    assert nanolints.play(tape(events)).peak_reserved_bytes == play(events).reserved
