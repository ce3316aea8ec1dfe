"""What differs between releases of PyTorch, in the tapes of runs that are the same otherwise.

These take seconds each.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.recording.recording import record
from nanolint.run.run import Attention
from nanolint.tape.tape import Component, Phase
from nanolint.tape.torch import WORKSPACE_BYTES, variable_in_error
from nanolint.units import MIB
from nanolint.verdict.verdict import judge
from tests.support.runs import GPT2, card
from tests.unit.inductor.test_torch_facts import WIDE


def test_the_random_state_of_attention_moved_to_the_card() -> None:
    def states(
        attention: Attention, torch: tuple[int, int], *, compiled: bool, dropout: float = 0.0
    ) -> int:
        run = WIDE.having(compile=compiled, attention=attention, torch=torch, dropout=dropout)
        tape = record(run)
        starts = [*(start for start, _ in tape.phases), len(tape.events)]
        return sum(
            event >= 0 and "random state" in tape.names[event]
            for (start, phase), end in zip(tape.phases, starts[1:], strict=True)
            if phase is Phase.FORWARD  # an evaluation is without dropout
            for event in tape.events[start:end]
        )

    for compiled in (False, True):
        assert states(Attention.FLASH, (2, 6), compiled=compiled) == 0
        assert states(Attention.FLASH, (2, 7), compiled=compiled) > 0
        assert states(Attention.EFFICIENT, (2, 13), compiled=compiled) == 0
        plain = states(Attention.EFFICIENT, (2, 14), compiled=compiled)
        dropping = states(Attention.EFFICIENT, (2, 14), compiled=compiled, dropout=0.1)
        assert dropping < plain  # nothing is dropped in an evaluation
    assert dropping == 0  # compiled, as if it were


@pytest.mark.parametrize("compiled", [False, True])
def test_in_2_9_and_2_10_products_with_a_bias_take_a_workspace_of_their_own(compiled: bool) -> None:
    def workspaces(torch: tuple[int, int], *, bias: bool) -> list[int]:
        tape = record(WIDE.having(compile=compiled, torch=torch, bias=bias))
        made = zip(tape.sizes, tape.components, strict=True)
        return [nbytes for nbytes, component in made if component is Component.WORKSPACE]

    both = [WORKSPACE_BYTES, WORKSPACE_BYTES]
    assert workspaces((2, 12), bias=True) == both
    for torch in ((2, 9), (2, 10)):
        assert workspaces(torch, bias=False) == both
        assert sorted(workspaces(torch, bias=True)) == [MIB, *both]


def test_the_error_advises_what_that_release_does() -> None:
    assert variable_in_error((2, 10)) == "PYTORCH_ALLOC_CONF"
    for torch in ((2, 9), (2, 11), (2, 13), (2, 15)):
        assert variable_in_error(torch) == "PYTORCH_CUDA_ALLOC_CONF"
        oom = judge(replace(GPT2, torch=torch), card("rtx-3060")).oom
        assert oom is not None
        assert "setting PYTORCH_CUDA_ALLOC_CONF=expandable" in oom.message
