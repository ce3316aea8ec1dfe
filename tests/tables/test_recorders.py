"""What of the recorders needs no torch: the tables' configs, and how a table is compared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.tape.allocator.play import play
from nanolint.tape.tape import Component, Tape
from nanolint.trace.traced import Traced, read
from tests.unit.trace.messages import MIB, message
from validation import oracle, record_compiled, record_eager
from validation.accuracy import recorded

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("table", "configs"),
    [("eager", record_eager.generate(72)), ("compiled", record_compiled.configs())],
)
def test_the_recorded_tables_hold_the_configs_that_the_recorders_make(
    table: str, configs: list[dict[str, object]]
) -> None:
    """In the recorders' order. Half of the configs at least: deep compiled ones take minutes."""
    rows = recorded(table)
    kept = [list(row.items())[: len(configs[0])] for row in rows]
    made = [list(config.items()) for config in configs]
    assert kept == [config for config in made if config in kept]
    assert len(configs) <= 2 * len(kept)


def test_the_rows_that_say_a_least_limit_are_those_that_are_asked_for_it() -> None:
    rows = recorded("compiled")
    assert {row["name"] for row in rows if "least_limit" in row} == {
        row["name"] for row in rows
    } & record_compiled.LIMITED


def test_a_row_that_differs_is_told_by_its_figures() -> None:
    row: dict[str, Any] = recorded("compiled")[0]
    assert oracle.differences(row, row) == ""
    other = row | {"reserved": 1}
    assert oracle.differences(other, row) == f"reserved: 1, not {row['reserved']}"


def test_a_row_has_the_peaks_of_the_phases_with_setting_up_in_the_evaluation() -> None:
    phases = [[0, "setup"], [1, "eval"], [3, "forward"], [5, "backward"], [6, "optimizer"]]
    row = oracle.figures(read(message(phases=phases)))
    assert row["eval"] == 30 * MIB + 512
    assert row["overall"] == max(row[phase] for phase in ("forward", "backward", "optimizer"))
    assert row["memory_allocated"] == 80 * MIB and row["reserved"] == 100 * MIB


def recorder(table: Path, *, check: bool, only: list[str], told: int) -> int:
    configs = [{"name": "a", "B": 1}, {"name": "b", "B": 2}]
    return oracle.record(table, configs, lambda _row: {"peak": told}, only=only, check=check)


def test_a_row_is_written_beside_the_others_and_compared_with_them(tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    recorder(table, check=False, only=[], told=5)
    recorder(table, check=False, only=["b"], told=7)
    assert [row["peak"] for row in json.loads(table.read_text())] == [5, 7]
    assert recorder(table, check=True, only=["b"], told=7) == 0
    assert recorder(table, check=True, only=["a"], told=7) == 1
    with pytest.raises(SystemExit, match="no such row: c"):
        recorder(table, check=True, only=["c"], told=7)


def test_the_least_limit_is_survived_because_cached_segments_are_given_back() -> None:
    tape = Tape()
    tape.free(tape.alloc(30 * MIB, "", Component.ACTIVATIONS))
    tape.alloc(40 * MIB, "", Component.ACTIVATIONS)
    reserved = play(tape).peak_reserved_bytes
    assert reserved == 70 * MIB
    found = object.__new__(Traced)
    object.__setattr__(found, "tape", tape)
    object.__setattr__(found, "reserved_bytes", reserved)
    assert record_compiled.least_limit(found) == 40 * MIB
