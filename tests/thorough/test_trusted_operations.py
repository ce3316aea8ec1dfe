"""Compiled operations that are trusted take no less than PyTorch's, and the list of those that are
not verified is right. These take half a minute each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.inductor.derive import capture
from nanolint.inductor.derive.operations import UNVERIFIED
from nanolint.tensors.ops.registry import Op
from tests.tables.operations import derived, recorded_entries
from tests.tables.test_known_operations import FIRST
from validation.record_compiled_operations import recorded

if TYPE_CHECKING:
    import pytest


def peak(events: list[Any]) -> int:
    live: dict[int, int] = {}
    highest = 0
    for event in events:
        if isinstance(event, tuple):
            live[event[0]] = event[1]
            highest = max(highest, sum(live.values()))
        else:
            for released in event:
                live.pop(released, None)
    return highest


def peaks(row: dict[str, Any]) -> tuple[int, int]:
    return peak(derived(row)[0]), peak(recorded_entries(row))


def test_nothing_that_is_trusted_is_smaller_than_pytorchs() -> None:
    trusted = [row for row in recorded() if not derived(row)[1]]
    found = {row["name"]: peaks(row) for row in trusted}
    assert {name: both for name, both in found.items() if both[0] < both[1]} == {}


def test_what_is_named_as_not_verified_is_held_by_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = dict(UNVERIFIED)
    monkeypatch.setattr(capture, "UNVERIFIED", {})
    held, used = set[str | Op](), set[str | Op]()
    call, elementwise = capture.Capture.call, capture.Capture.elementwise

    def called(self: Any, name: str, *others: Any) -> Any:
        used.add(name)
        return call(self, name, *others)

    def on_elements(self: Any, op: Op, *others: Any) -> Any:
        used.add(op)
        return elementwise(self, op, *others)

    monkeypatch.setattr(capture.Capture, "call", called)
    monkeypatch.setattr(capture.Capture, "elementwise", on_elements)
    everything, small, doubted = set[str | Op](), set[str | Op](), set[str | Op]()
    rows = {row["name"]: row for row in recorded()}
    for name, case in FIRST.items():
        used.clear()
        _, doubts = derived(rows.get(name, case))
        if doubts:
            doubted |= used
            continue
        everything |= used
        if name in rows:
            mine, theirs = peaks(rows[name])
            (small if mine < theirs else held).update(used)
    assert everything - held <= listed.keys()
    assert listed.keys() <= (everything | doubted) - held | small
