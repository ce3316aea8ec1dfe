"""Cards that answer alike what a reading asks of them share its tape, and others do not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.gpus.lookup import find
from nanolint.recording.events import device_of, write_own
from nanolint.recording.kernels import Kernels
from nanolint.recording.recording import card_of, recorded
from nanolint.script.played import representative
from nanolint.tape.tape import Tape
from nanolint.tensors.device import Asked, Card
from nanolint.trainers.nanogpt.resolve import default_run

if TYPE_CHECKING:
    import pytest

RUN = default_run().having(
    batch_size=8, gradient_accumulation_steps=2, n_layer=1, n_head=4, n_embd=512, vocab_size=1000,
)  # fmt: skip
CARDS = ("rtx-4060", "rtx-3060", "rtx-4070", "rtx-3080", "rtx-4080", "rtx-4090", "l40s")


def sizes(name: str, *, compiled: bool) -> list[int]:
    """Those of the run, read for one card alone."""
    gpu, tape = find(name).gpu, Tape()
    run = representative(replace(RUN, compile=compiled))
    write_own(run, Kernels.of(run, gpu), Asked(card_of(gpu)), tape, compiled=compiled)
    return tape.sizes


def test_a_card_that_answers_otherwise_has_a_tape_of_its_own() -> None:
    few, many = (recorded(RUN, find(name).gpu).tape for name in ("rtx-4060", "rtx-4090"))
    assert few.sizes != many.sizes


def test_whether_cards_answer_alike_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run = representative(RUN)
    first, other = (find(name).gpu for name in ("l40s", "rtx-4080"))
    asked = []
    answers_alike = Asked.answers_alike

    def noted(self: Asked, card: Card) -> bool:
        asked.append(card)
        return answers_alike(self, card)

    monkeypatch.setattr(Asked, "answers_alike", noted)
    tapes = [recorded(run, each) for each in (first, other)]
    before = len(asked)
    assert [recorded(run, each) for each in (other, first, other)] == [tapes[1], tapes[0], tapes[1]]
    assert len(asked) == before


def test_what_was_not_asked_does_not_matter() -> None:
    asked = Asked(Card(46, 1536, 1))
    assert asked.answers_alike(Card(1, 1, 1))
    device = device_of(RUN, Kernels.of(RUN), asked, Tape())
    assert device.asked.ask(_has_many, 40)
    assert asked.answers_alike(Card(41, 1, 1)) and not asked.answers_alike(Card(40, 1536, 1))


def _has_many(card: Card, least: int) -> bool:
    return card.multiprocessors > least
