"""Layers beyond those that are played one by one weigh what they would weigh one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.memory import recording
from nanolint.memory.recording import _recipe, allocated_peak
from nanolint.memory.tape import Component
from tests.memory.runs import SMALL


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("dropout", [0.0, 0.1])
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_they_weigh_nearly_as_much_in_bulk(
    compiled: bool, dropout: float, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = replace(SMALL, n_layer=12, vocab_size=300, n_embd=256, n_head=4)
    run = replace(run, compile=compiled, dtype=dtype, dropout=dropout)
    whole = allocated_peak(_recipe(run, None).record())
    monkeypatch.setattr(recording, "MOST_LAYERS", 4)
    tape = _recipe(run, None).record()
    bulk = allocated_peak(tape)
    assert all(isinstance(component, Component) for component in tape.components)
    assert bulk == pytest.approx(whole, rel=0.001)
