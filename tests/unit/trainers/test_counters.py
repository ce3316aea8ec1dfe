"""Counters of a loop that are no names: attributes and entries, counted up wherever it may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.run.described import Role
from tests.support.explained import explained
from tests.unit.trainers.written_scripts import MODEL, read

if TYPE_CHECKING:
    from pathlib import Path

HEAD = f"""{MODEL}
model = Net(Config())
optimizer = torch.optim.AdamW(model.parameters())
class State:
    pass
state, table, N = State(), {{"i": 0}}, 4
state.i = 0
def count():
    state.i += 1
"""
LOOP = """
for it in range(1000):
    x, y = get_batch(8, 64)
    model(x, y).backward()
    if {counter} % N == 0:
        optimizer.step()
    {counts}
"""


@pytest.mark.parametrize(
    ("counter", "counts"),
    [
        ("state.i", "state.i += 1"),
        ("(state.i + 1)", "state.i += 1"),
        ("state.i", "state.i = state.i + 1"),
        ("state.i", "count()"),
        ("table['i']", "table['i'] += 1"),
        ("(1 + table['i'])", "table['i'] = table['i'] + 1"),
    ],
)
def test_a_step_is_every_so_many_turns(counter: str, counts: str) -> None:
    found = read(HEAD + LOOP.format(counter=counter, counts=counts))
    assert found.value(Role.ACCUMULATION) == 4
    assert (found.value(Role.MICRO_BATCH), found.value(Role.CONTEXT)) == (8, 64)


def test_so_it_is_in_the_methods_of_a_trainer() -> None:
    found = read(
        f"""{MODEL}
class Trainer:
    def __init__(self, every):
        self.model = Net(Config())
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.step, self.every = 0, every
    def one(self, x, y):
        self.model(x, y).backward()
        if self.step % self.every == 0:
            self.optimizer.step()
        self.step += 1
    def train(self):
        for epoch in range(3):
            for it in range(100):
                self.one(*get_batch(8, 64))
Trainer(16).train()
"""
    )
    assert found.value(Role.ACCUMULATION) == 16


def test_what_is_counted_before_the_loop_is_known_in_it() -> None:
    above = "state.rows = 4\nfor each in range(3):\n    state.total = 1\nstate.rows *= 2\n"
    text = LOOP.format(counter="it", counts="state.i += 1").replace("(8, 64)", "(state.rows, 64)")
    assert read(HEAD + above + text).value(Role.MICRO_BATCH) == 8


def test_a_module_that_is_imported_in_the_loop_is_still_known(tmp_path: Path) -> None:
    (tmp_path / "sizes.py").write_text("T = 64\n", encoding="utf-8")
    body = LOOP.format(counter="state.i", counts="state.i += 1").replace("(8, 64)", "(8, T)")
    imports = body.replace("    x, y", "    from sizes import T\n    x, y")
    found = explained(tmp_path, HEAD + imports)
    assert found["roles"]["context"]["value"] == 64
    assert found["roles"]["accumulation"]["value"] == 4
