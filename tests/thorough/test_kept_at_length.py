"""A reading that one command has kept is the next one's: the same events, and of no other run.

These take seconds each.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.gpus.gpu import Machine
from nanolint.verdict import search
from nanolint.verdict.search import best_micro_batch
from tests.unit.recording.test_kept import GPU, SCRIPT, kept_in, refuse_tapes


@pytest.mark.parametrize("upward", [False, True])
def test_a_micro_batch_that_was_found_needs_no_tape(
    upward: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = replace(
        SCRIPT, compile=False, gradient_accumulation_steps=4096, batch_size=2 if upward else 4096
    )
    machines = Machine(GPU), Machine(GPU, in_use_bytes=GPU.total_bytes - (1 << 30))

    def asked() -> list[object]:
        search._found.cache_clear()
        return [best_micro_batch([(run, each)], upward=upward) for each in machines]

    before = asked()
    assert None not in before and before[0] != before[1]
    refuse_tapes(monkeypatch)
    assert asked() == before


__all__ = ["kept_in"]  # fixtures
