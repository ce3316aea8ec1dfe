"""Verdicts on real runs that people have reported, and what a verdict says."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from nanolint.gpus.gpu import Gpu, Machine
from nanolint.recording.recording import allocated_bytes
from nanolint.run.run import Attention
from nanolint.tape.tape import Component, Phase
from nanolint.trainers.nanogpt.resolve import default_run
from nanolint.verdict.replay import message, overhead, replay
from nanolint.verdict.verdict import (
    Outcome,
    comfortable_limit,
    is_comfortable,
    is_hopeless,
    judge,
    usable_bytes,
)
from nanolint.verdict.words import headline

GIB = 1 << 30
GPT2 = default_run()
LARGE = GPT2.having(
    batch_size=1,
    gradient_accumulation_steps=32,
    n_layer=36,
    n_head=20,
    n_embd=1280,
    vocab_size=50257,
    bias=True,
    init_from="gpt2-large",
    max_iters=20,
    eval_interval=5,
)
XL = LARGE.having(n_layer=48, n_head=25, n_embd=1600, init_from="gpt2-xl")
CHAR = GPT2.having(
    batch_size=64, gradient_accumulation_steps=1, block_size=256, n_layer=6, n_head=6,
    n_embd=384, vocab_size=65, dropout=0.2,
)  # fmt: skip
SMALL = GPT2.having(
    batch_size=16, gradient_accumulation_steps=4, block_size=512, n_layer=6, n_head=6,
    n_embd=384, dtype="float16",
)  # fmt: skip
EAGER = replace(GPT2, batch_size=32, compile=False)


def card(
    gib: float, sm_count: int, capability: tuple[int, int], count: int | None = None
) -> Machine:
    total = int(gib * GIB)
    return Machine(Gpu("card", "nvidia", total, total, sm_count, capability, False, "test"), count)


RTX_4070 = card(11.71, 46, (8, 9))
RTX_3090 = card(23.68, 82, (8, 6))
A100 = card(39.38, 108, (8, 0))
V100 = card(15.78, 80, (7, 0))


def test_the_eager_error_of_nanogpt_issue_88() -> None:
    run = replace(EAGER, attention=Attention.MATH)
    oom = replay(run, limit_bytes=int(15.78 * GIB) - (500 << 20)).oom
    assert oom is not None
    assert oom.phase is Phase.EVAL
    assert oom.logits
    assert "Tried to allocate 6.14 GiB" in oom.message
    assert "10.16 GiB is allocated by PyTorch" in oom.message


def test_the_compiled_error_on_a_shared_12_gb_card() -> None:
    run = replace(GPT2, batch_size=64)
    target = replace(card(11.69, 46, (8, 9)), in_use_bytes=int(1.97 * GIB))
    verdict = judge(run, target)
    assert verdict.outcome is Outcome.OUT_OF_MEMORY
    assert verdict.oom is not None
    assert verdict.oom.phase is Phase.EVAL
    assert verdict.oom.requested_bytes == 6_593_445_888
    assert verdict.oom.allocated_bytes == pytest.approx(6.78 * GIB, rel=0.01)


def test_the_process_of_a_compiled_run_on_an_rtx_4070() -> None:
    assert judge(SMALL, RTX_4070).process_bytes == pytest.approx(4464 << 20, rel=0.05)


def test_components_sum_to_the_peak_and_the_trace_reaches_it() -> None:
    found = replay(replace(CHAR, compile=False), trace=True)
    assert sum(nbytes for _, nbytes in found.components) == found.peak.allocated_bytes
    assert max(moment.allocated_bytes for moment in found.events) == found.peak.allocated_bytes
    assert max(moment.reserved_bytes for moment in found.events) == found.peak.reserved_bytes
    assert max(nbytes for _, nbytes in found.phases) == found.peak.allocated_bytes
    assert all(sum(moment.components) == moment.allocated_bytes for moment in found.events)


def test_nothing_is_allocated_off_the_gpu() -> None:
    found = replay(replace(GPT2, device="cpu"))
    assert found.peak.allocated_bytes == found.peak.reserved_bytes == 0
    assert judge(replace(GPT2, device="cpu"), RTX_4070).fits


def test_evaluation_only_stops_before_gradients() -> None:
    found = replay(replace(EAGER, eval_only=True))
    assert [phase for phase, _ in found.phases] == [Phase.EVAL]
    assert dict(found.components)[Component.GRADIENTS] == 0


def test_resuming_holds_the_checkpoint_and_adam_from_the_start() -> None:
    fresh, resumed = replay(EAGER), replay(EAGER.having(init_from="resume"))
    extra = resumed.peak.allocated_bytes - fresh.peak.allocated_bytes
    assert extra == pytest.approx(4 * GPT2.parameters, rel=0.001)
    evaluated = dict(resumed.phases)[Phase.EVAL] - dict(fresh.phases)[Phase.EVAL]
    assert evaluated == pytest.approx(12 * GPT2.parameters, rel=0.001)


def test_the_second_evaluation_is_dearer_and_only_played_when_reached() -> None:
    phases = dict(replay(EAGER).phases)
    assert phases[Phase.EVAL_LATE] > phases[Phase.EVAL]
    short = replace(EAGER, max_iters=100, eval_interval=200)
    assert Phase.EVAL_LATE not in dict(replay(short).phases)


def test_windows_keeps_a_part_of_the_card() -> None:
    assert (
        judge(CHAR, replace(RTX_4070, platform="wsl")).usable_bytes
        < judge(CHAR, RTX_4070).usable_bytes
    )


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"platform": "windows"},
        {"in_use_bytes": 2 * GIB, "platform": "wsl"},
        {"allowed_bytes": 5 * GIB},
    ],
)
@pytest.mark.parametrize("batch_size", [16, 7])
def test_the_figures_of_a_headline_add_up(given: dict[str, Any], batch_size: int) -> None:
    verdict = judge(replace(GPT2, batch_size=batch_size), replace(RTX_4070, **given))
    told = re.search(
        r"([\d.+ \w]+) of ([\d.]+) GiB.*\(([\d.]+) (short|to spare)", headline(verdict)
    )
    assert told, headline(verdict)
    held, limit = (sum(map(float, re.findall(r"[\d.]+", part))) for part in told.group(1, 2))
    left = float(told[3]) * (1 if told[4] == "to spare" else -1)
    assert limit - held == pytest.approx(left, abs=0.01)


def test_the_limit_is_the_card_without_its_context_and_what_others_use() -> None:
    target = replace(card(12, 28, (8, 6)), in_use_bytes=GIB)
    held = overhead(target.gpu)
    assert usable_bytes(target, held) == 11 * GIB - held.expected
    kept = 12 * GIB * 5 // 100
    for platform in ("windows", "wsl"):
        assert (
            usable_bytes(replace(target, platform=platform), held)
            == 11 * GIB - kept - held.expected
        )
    assert usable_bytes(replace(target, in_use_bytes=12 * GIB), held) == 0


@pytest.mark.parametrize(("compiled", "percent"), [(False, 2), (True, 5)])
@pytest.mark.parametrize("world_size", [1, 8])
@pytest.mark.parametrize("platform", ["linux", "windows"])
def test_the_margin_is_the_error_of_the_context_and_of_the_model(
    compiled: bool, percent: int, world_size: int, platform: str
) -> None:
    target = replace(card(12, 28, (8, 6)), platform=platform)
    held = overhead(target.gpu, world_size)
    limit = usable_bytes(target, held)
    run = replace(GPT2, compile=compiled, world_size=world_size)
    margin = limit - comfortable_limit(run, target)
    assert margin == held.high - held.expected + limit * percent // 100


TIGHT = GPT2.having(
    batch_size=64, n_layer=2, n_head=2, n_embd=128, vocab_size=1000, block_size=128,
    compile=False, torch=(2, 13),
)  # fmt: skip


def test_a_run_that_only_expandable_segments_save_is_fragmented() -> None:
    target = card(0.405, 20, (8, 6))
    verdict = judge(TIGHT, target)
    assert verdict.outcome is Outcome.FRAGMENTED
    assert verdict.oom is not None
    assert not verdict.fits
    saved = judge(TIGHT, replace(target, allocator="expandable"))
    assert saved.outcome is Outcome.THIN
    assert saved.oom is None
    assert saved.fits


def test_what_a_run_takes_is_told_for_its_own_allocator() -> None:
    default, expandable = (
        judge(TIGHT, replace(RTX_4070, allocator=allocator))
        for allocator in ("default", "expandable")
    )
    assert default.replay == replay(TIGHT, RTX_4070.gpu)
    hopper = card(80, 132, (9, 0))
    assert judge(TIGHT, hopper).replay == replay(TIGHT, hopper.gpu) != default.replay
    assert expandable.replay == replay(TIGHT, RTX_4070.gpu, expandable=True)
    assert expandable.process_bytes < default.process_bytes
    reserved = default.replay.peak.reserved_bytes
    assert default.process_bytes == reserved + overhead(RTX_4070.gpu).expected
    assert judge(replace(TIGHT, device="cpu"), RTX_4070).process_bytes == 0


def test_the_error_of_a_verdict_tells_what_other_programs_hold() -> None:
    target = replace(card(12, 28, (8, 6)), in_use_bytes=2 * GIB)
    verdict = judge(EAGER, target)
    oom = verdict.oom
    assert oom is not None
    assert oom.free_bytes + oom.reserved_bytes == verdict.usable_bytes
    assert oom.message == message(
        oom.requested_bytes,
        oom.allocated_bytes,
        oom.reserved_bytes,
        oom.free_bytes,
        12 * GIB,
        2 * GIB,
    )
    held = 10 * GIB - oom.free_bytes
    assert f"this process has {held / GIB:.2f} GiB memory in use" in oom.message


@pytest.mark.parametrize("capability", [(8, 6), (9, 0)])
@pytest.mark.parametrize("platform", ["linux", "windows"])
def test_a_run_is_hopeless_when_its_tensors_alone_exceed_the_card_by_far(
    platform: str, capability: tuple[int, int]
) -> None:
    for mib in range(300, 650, 10):
        target = replace(card(mib / 1024, 20, capability), platform=platform)
        limit = comfortable_limit(TIGHT, target)
        needed = allocated_bytes(TIGHT, target.gpu)
        hopeless = is_hopeless(TIGHT, target)
        assert hopeless is (needed > limit * 110 // 100)
        survives = replay(TIGHT, target.gpu, limit_bytes=max(0, limit)).oom is None
        assert is_comfortable(TIGHT, target) is survives
        assert not (hopeless and survives)
        outcome = judge(TIGHT, target).outcome
        assert (outcome is Outcome.COMFORTABLE) is survives
        assert not is_hopeless(replace(TIGHT, device="cpu"), target)


def test_what_windows_keeps_can_decide() -> None:
    found = {
        (is_hopeless(TIGHT, on_windows), is_comfortable(TIGHT, on_windows))
        != (is_hopeless(TIGHT, target), is_comfortable(TIGHT, target))
        for target in (card(mib / 1024, 20, (8, 6)) for mib in range(200, 600, 10))
        for on_windows in (replace(target, platform="windows"),)
    }
    assert found == {False, True}


def test_a_verdict_counts_the_context_of_all_processes() -> None:
    run = replace(TIGHT, world_size=8)
    held = overhead(A100.gpu, 8)
    verdict = judge(run, A100)
    assert verdict.overhead_bytes == held.expected
    assert verdict.usable_bytes == usable_bytes(A100, held)
