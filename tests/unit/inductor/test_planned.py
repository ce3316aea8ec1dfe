"""A graph that was planned for one text of a script is not planned again for another one, and what
comes of it is what planning it would have made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nanolint.gpus.lookup import find
from nanolint.inductor.derive import plans
from nanolint.inductor.derive.operations import Operation, Operations
from nanolint.inductor.derive.plans import Planning, _content
from nanolint.inductor.inductor import Inductor
from nanolint.recording import recording
from nanolint.tape.tape import Component, Tape
from nanolint.tensors.device import Device
from nanolint.tensors.dtypes import BFLOAT16, FLOAT32
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.role import role
from tests.thorough.test_worked_out import COLUMNS, run_of
from validation.composed import composed

if TYPE_CHECKING:
    from pathlib import Path

CARD, SMALLER = "rtx-4090", "rtx-4070"  # which splits some sums otherwise
NUMBERS = (160, 314, 640, 754, 758, 774)

# Of an operation, what follows from the others, or is remembered of it.
DERIVED = {"users", "number", "asks"}
PART = Operation(ops.GETITEM, (), (4,), (1,), FLOAT32, role("y", Component.ACTIVATIONS))
OTHER = {
    "ahead": 1, "all_nodes": 2, "cost": 2, "dtype": BFLOAT16, "op": ops.TAN,
    "nodes": 2, "numbers": (1.5,), "of": (), "parts": (PART,), "region": 1, "role": PART.role,
    "scratch": (("partial sums", 8),), "settings": (0.5,), "shape": (4,), "strides": (2,),
}  # fmt: skip


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Planning]:
    """The plans that are made from now on, of which none is known."""
    found: list[Planning] = []

    class Noted(Planning):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            found.append(self)

    monkeypatch.setattr(plans, "Planning", Noted)
    monkeypatch.setattr(plans, "_known", {})
    return found


def told(root: Path, number: int, note: str, card: str = CARD) -> dict[str, str]:
    """All that is said of a composed script, in which a text that is used is another one."""
    text = f"note = '{note}'; assert note\n{composed(number)}"
    run = run_of(root, text)
    assert run is not None
    tape = recording.located(run, find(card).gpu).tape
    return {column: repr(getattr(tape, column)) for column in (*COLUMNS, "wheres")}


@pytest.mark.parametrize("slot", sorted(set(Operation.__slots__) - DERIVED))
def test_all_that_an_operation_has_tells_its_graph_from_others(slot: str) -> None:
    device = Device(Tape())
    before = _content(graph(), {}, (), device, Inductor())
    assert before == _content(graph(), {}, (), device, Inductor())
    other = graph()
    setattr(other.all[-1], slot, OTHER[slot])
    assert _content(other, {}, (), device, Inductor()) not in (None, before)


def graph() -> Operations:
    """Two operations that read one input."""
    made = Operations()
    given = role("x", Component.ACTIVATIONS)
    first = made.add(Operation(ops.INPUT, (), (8,), (1,), FLOAT32, given))
    for op in (ops.SIN, ops.COS):
        made.add(Operation(op, (first,), (8,), (1,), FLOAT32, given))
    made.outputs = made.all[1:]
    made.connect()
    return made
