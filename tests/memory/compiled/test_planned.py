"""A graph that was planned for one text of a script is not planned again for another one, and what
comes of it is what planning it would have made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nanolint.gpus.lookup import find
from nanolint.lsp.session import Session
from nanolint.memory import recording
from nanolint.memory.compiled.derive import planned
from nanolint.memory.compiled.derive.plans import Planning
from tests.support.project_tree import write_project
from validation.composed import composed

if TYPE_CHECKING:
    from pathlib import Path

CARD, SMALLER = "rtx-4090", "rtx-4070"  # which splits some sums otherwise
COLUMNS = (
    *("events", "sizes", "names", "components", "phases", "doubts", "above", "assumed"),
    *("flops", "steps", "printed", "wheres"),
)
NUMBERS = (160, 314, 640, 754, 758, 774)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Planning]:
    """The plans that are made from now on, of which none is known."""
    found: list[Planning] = []

    class Noted(Planning):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            found.append(self)

    monkeypatch.setattr(planned, "Planning", Noted)
    monkeypatch.setattr(planned, "_known", {})
    return found


def told(root: Path, number: int, note: str, card: str = CARD) -> dict[str, str]:
    """All that is said of a composed script, in which a text is another one."""
    text = f"note = '{note}'\n{composed(number)}"
    path = write_project(root, {"train.py": text}) / "train.py"
    session = Session({}, pytest.fail)
    session.set_target(card)
    session.open("script", path, text, is_python=True)
    document = session.document("script")
    assert document is not None
    assert document.context is not None
    assert document.context.run is not None
    tape = recording.located(document.context.run, find(card).gpu).tape
    return {column: repr(getattr(tape, column)) for column in COLUMNS}


@pytest.mark.parametrize("number", NUMBERS)
def test_another_text_has_the_plans_of_the_first(
    tmp_path: Path, number: int, made: list[Planning]
) -> None:
    first, second = (told(tmp_path, number, note) for note in ("first", "second"))
    assert made
    made.clear()
    third = told(tmp_path, number, "third")
    assert not made  # the process's first reading may have kept none, the second has
    assert first == second == third


@pytest.mark.parametrize("number", NUMBERS)
def test_another_card_has_its_own_plans(
    tmp_path: Path, number: int, made: list[Planning], monkeypatch: pytest.MonkeyPatch
) -> None:
    for note in ("first", "second"):
        told(tmp_path, number, note)
    after = told(tmp_path, number, "third", SMALLER)
    monkeypatch.setattr(planned, "_known", {})
    made.clear()
    assert told(tmp_path, number, "fourth", SMALLER) == after
    assert made
