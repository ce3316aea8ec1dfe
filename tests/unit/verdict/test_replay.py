"""What a replay tells: where it peaks, which allocation fails, and PyTorch's words for it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from nanolint.recording.recording import record
from nanolint.tape.allocator.play import Refusal
from nanolint.tape.tape import Component, Phase
from nanolint.units import GIB, MIB
from nanolint.verdict.replay import (
    COMPONENTS,
    _narrowest_logits,
    _out_of_memory,
    failure,
    message,
    peak_change,
    replay,
)
from tests.support.runs import SMALL, card

RUN = replace(SMALL, batch_size=64, compile=False, torch=(2, 13))
GPU = card("rtx-3060").gpu


def test_the_message_is_pytorch_s_own() -> None:
    told = message(32 * MIB, 46 * MIB, 60 * MIB, 20 * MIB, 4 * GIB, 3 * GIB)
    assert told == (
        "CUDA out of memory. Tried to allocate 32.00 MiB. GPU 0 has a total capacity of 4.00 GiB "
        "of which 20.00 MiB is free. Process 1 has 3.00 GiB memory in use. Including non-PyTorch "
        "memory, this process has 1004.00 MiB memory in use. Of the allocated memory 46.00 MiB is "
        "allocated by PyTorch, and 14.00 MiB is reserved by PyTorch but unallocated. If reserved "
        "but unallocated memory is large try setting "
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
    )


def test_the_message_names_no_other_process_where_there_is_none() -> None:
    told = message(32 * MIB, 46 * MIB, 60 * MIB, 20 * MIB, GIB)
    assert "is free. Including non-PyTorch" in told
    assert "this process has 1004.00 MiB memory in use" in told


@pytest.mark.parametrize("expandable", [False, True])
@pytest.mark.parametrize("limit", [100 * MIB, 200 * MIB, 245 * MIB, GIB])
def test_the_failure_alone_is_that_of_the_whole_replay(limit: int, expandable: bool) -> None:
    whole = replay(RUN, GPU, limit_bytes=limit, expandable=expandable).oom
    assert failure(RUN, GPU, limit, expandable=expandable) == whole
    assert (failure(RUN, GPU, limit) is None) is (limit == GIB)
    assert (whole is None) is (limit == GIB or (expandable and limit == 245 * MIB))


def test_nothing_fails_off_the_gpu() -> None:
    assert failure(replace(RUN, device="cpu"), GPU, 0) is None


def test_a_failure_is_told_in_numbers_that_agree() -> None:
    found = replay(RUN, GPU, limit_bytes=200 * MIB)
    oom = found.oom
    assert oom is not None
    assert oom.phase is Phase.BACKWARD
    assert oom.at == "gradient of the log-probabilities (B*T, V) float32"
    assert oom.logits
    assert oom.reserved_bytes + oom.free_bytes == 200 * MIB
    assert oom.requested_bytes > oom.free_bytes
    assert oom.allocated_bytes <= found.peak.allocated_bytes <= oom.reserved_bytes
    assert f"total capacity of {GPU.total_bytes / GIB:.2f} GiB" in oom.message


def test_without_a_card_the_limit_is_its_capacity() -> None:
    oom = replay(RUN, limit_bytes=200 * MIB).oom
    assert oom is not None
    assert "total capacity of 200.00 MiB" in oom.message


def test_what_comes_after_a_failure_is_not_counted() -> None:
    found, whole = replay(RUN, GPU, limit_bytes=100 * MIB), replay(RUN, GPU)
    assert [phase for phase, _ in found.phases] == [Phase.EVAL]
    assert found.peak.phase is Phase.EVAL
    assert found.peak.allocated_bytes < whole.peak.allocated_bytes
    assert found.peak.reserved_bytes <= 100 * MIB


def test_a_failing_tensor_without_the_vocabulary_is_no_logits() -> None:
    run = RUN.having(vocab_size=10, n_layer=20)
    oom = replay(run, GPU, limit_bytes=300 * MIB).oom
    assert oom is not None
    assert not oom.logits


def test_of_the_loss_only_buffers_as_wide_as_the_vocabulary_are_logits() -> None:
    tape = record(RUN, GPU)
    narrowest = _narrowest_logits(RUN)
    told = {
        tape.names[handle]: _out_of_memory(tape, Refusal(event, 0, 0, 0), 0, None, narrowest).logits
        for event, handle in enumerate(tape.events)
        if handle >= 0
    }
    assert {name for name, logits in told.items() if logits} == {
        name for name in told if "(B*T, V)" in name
    }


def test_a_card_that_is_full_has_nothing_free() -> None:
    oom = replay(RUN, GPU, limit_bytes=0).oom
    assert oom is not None
    assert (oom.free_bytes, oom.allocated_bytes, oom.reserved_bytes) == (0, 0, 0)


def test_the_largest_allocation_is_named() -> None:
    found, tape = replay(RUN, GPU), record(RUN, GPU)
    assert found.largest.nbytes == max(tape.sizes) == 4 * 64 * 128 * 1000
    assert found.largest.name == "log-probabilities (B*T, V) float32"


def test_the_peak_says_which_allocation_reached_it_and_in_which_phase() -> None:
    found = replay(RUN, GPU)
    assert found.peak.phase is Phase.BACKWARD
    assert found.peak.at == "gradient of the log-probabilities (B*T, V) float32"
    assert dict(found.phases)[Phase.BACKWARD] == found.peak.allocated_bytes
    assert [phase for phase, _ in found.phases] == [
        phase for phase in Phase if phase is not Phase.SETUP
    ]
    live = dict(found.components)
    assert live[Component.PARAMETERS] >= 4 * RUN.parameters
    assert live[Component.OPTIMIZER] >= 8 * RUN.parameters


def test_a_trace_has_one_moment_for_each_event() -> None:
    found, tape = replay(RUN, GPU, trace=True), record(RUN, GPU)
    assert replay(RUN, GPU).events == ()
    assert len(found.events) == len(tape.events)
    assert [moment.phase for moment in found.events] == [
        tape.phase_at(number) for number in range(len(tape.events))
    ]
    for (before, after), event in zip(pairwise(found.events), tape.events[1:], strict=True):
        handle = event if event >= 0 else ~event
        change = tape.sizes[handle] if event >= 0 else -tape.sizes[handle]
        assert after.name == tape.names[handle]
        assert after.allocated_bytes - before.allocated_bytes == change
        index = COMPONENTS.index(tape.components[handle])
        assert after.components[index] - before.components[index] == change


def test_the_price_of_a_change_is_the_other_peak_less_its_own() -> None:
    larger = replace(RUN, batch_size=65)
    price = peak_change(RUN, larger, GPU)
    assert price == replay(larger, GPU).peak.allocated_bytes - replay(RUN, GPU).peak.allocated_bytes
    assert price > 0
    assert peak_change(larger, RUN, GPU) == -price
    hopper = card("h100").gpu
    own, other = (replay(run, hopper).peak.allocated_bytes for run in (RUN, larger))
    assert peak_change(RUN, larger, hopper) == other - own
    assert peak_change(replace(RUN, device="cpu"), RUN, hopper) > replay(RUN).peak.allocated_bytes


@pytest.mark.parametrize(("eval_iters", "batches"), [(0, 1), (1, 1), (2, 2), (200, 2)])
def test_an_evaluation_is_played_with_two_batches_of_each_split_at_most(
    eval_iters: int, batches: int
) -> None:
    tape = record(replace(RUN, eval_only=True, eval_iters=eval_iters))
    assert tape.names.count("batch (B, T) int64") == 2 * (1 + 2 * batches)
