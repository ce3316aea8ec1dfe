"""Cards that answer alike what a reading asks of them share its tape, and others do not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.gpus.lookup import find
from nanolint.recording.recording import record, recorded
from nanolint.run.program import ReadScript, SourceText
from nanolint.run.run import Attention, Run
from nanolint.tensors.device import Asked, Card
from nanolint.trainers.nanogpt.resolve import default_run

if TYPE_CHECKING:
    from nanolint.tape.tape import Tape

CARDS = ("rtx-4060", "rtx-4070", "rtx-4080", "rtx-4090", "l40s")
STEPS = """
import torch
from torch import nn
{setup}
model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.LayerNorm(2048), nn.Linear(2048, 1))
model.to("cuda")
{wrap}
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(100):
    x = torch.randn({rows}, 512, device="cuda")
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
ASKS = "rows = 64 * torch.cuda.get_device_properties(0).multi_processor_count"


def run_of(setup: str = "", rows: str = "16384", *, compiled: bool) -> Run:
    text = STEPS.format(setup=setup, rows=rows, wrap="model = torch.compile(model)" * compiled)
    program = ReadScript((SourceText("__main__", "train.py", text),))
    run = replace(default_run(), program=program, compile=compiled, attention=Attention.FLASH)
    return replace(run, max_iters=99, dtype="float32", eval_interval=0)


def tapes(run: Run) -> dict[str, Tape]:
    return {name: recorded(run, find(name).gpu).tape for name in CARDS}


def alone(run: Run, name: str) -> Tape:
    """The tape of a card that finds none of another: the text is another one."""
    program = run.program
    assert isinstance(program, ReadScript)
    (source,) = program.modules
    other = replace(source, text=f"{source.text}\n# for {name} alone\n")
    return record(replace(run, program=replace(program, modules=(other,))), find(name).gpu)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_shared_tape_is_that_of_each_card(compiled: bool) -> None:
    run = run_of(compiled=compiled)
    for name, tape in tapes(run).items():
        assert tape.sizes == alone(run, name).sizes, name
        assert tape.events == alone(run, name).events, name


def test_cards_that_differ_in_nothing_that_is_asked_share_one() -> None:
    assert len({id(tape) for tape in tapes(run_of(rows="8", compiled=False)).values()}) == 1


def test_a_script_that_asks_for_the_multiprocessors_has_a_tape_for_each() -> None:
    found = tapes(run_of(ASKS, "rows", compiled=False))
    assert len({max(tape.sizes) for tape in found.values()}) == len(CARDS)


def test_what_was_not_asked_does_not_matter() -> None:
    asked = Asked(Card(46, 1536, 1))
    assert asked.answers_alike(Card(1, 1, 1))
    assert asked.ask(_has_many, 40)
    assert asked.answers_alike(Card(41, 1, 1))
    assert not asked.answers_alike(Card(40, 1536, 1))


def _has_many(card: Card, least: int) -> bool:
    return card.multiprocessors > least
