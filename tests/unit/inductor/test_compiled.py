"""What is compiled, against facts that people and traces have reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.gpus.gpu import Gpu
from nanolint.inductor.graph import column_sum_splits, fused_sum_splits
from nanolint.tape.tape import Phase
from nanolint.tensors.device import Card
from nanolint.trainers.nanogpt.resolve import default_run
from nanolint.verdict.replay import replay

if TYPE_CHECKING:
    from nanolint.run.run import Run

GIB = 1 << 30
MIB = 1 << 20


@pytest.mark.parametrize(
    ("rows", "columns", "splits"),
    [(8192, 384, 64), (4096, 768, 32), (1024, 1280, 8), (3000, 384, 24), (1665, 320, 14)],
)
def test_column_sums_split_as_traced(rows: int, columns: int, splits: int) -> None:
    assert column_sum_splits(Card(46, 1536), rows, columns, None) == splits


@pytest.mark.parametrize(("rows", "splits"), [(12288, 384), (16384, 512)])
def test_row_and_column_sums_share_a_kernel_as_traced(rows: int, splits: int) -> None:
    assert fused_sum_splits(Card(46, 1536), rows) == splits


RTX_4070 = Gpu(
    name="RTX 4070",
    vendor="nvidia",
    total_bytes=int(11.69 * GIB),
    nominal_bytes=12 * GIB,
    sm_count=46,
    compute_capability=(8, 9),
    estimated=False,
    source="the error message below",
)


def run(**changes: object) -> Run:
    gpt2 = default_run()
    return gpt2.having(**changes)


def test_a_real_failure_in_the_first_evaluation() -> None:
    """An RTX 4070 with 2 GiB in use: "Tried to allocate 6.14 GiB ... 6.78 GiB is allocated"."""
    limit = int((11.69 - 2 - 0.25) * GIB)
    oom = replay(run(batch_size=64), RTX_4070, limit_bytes=limit).oom
    assert oom is not None
    assert (oom.phase, oom.requested_bytes) == (Phase.EVAL, 6_593_445_888)
    assert oom.allocated_bytes == pytest.approx(6.78 * GIB, rel=0.01)


def test_a_real_process_in_steady_training() -> None:
    """nvidia-smi said 4464 MiB on an RTX 4070, of which 250 are the context."""
    shape = {"n_layer": 6, "n_head": 6, "n_embd": 384, "block_size": 512, "batch_size": 16}
    found = replay(run(dtype="float16", gradient_accumulation_steps=4, **shape), RTX_4070).peak
    assert found.allocated_bytes == pytest.approx(3559 * MIB, rel=0.01)
    assert found.reserved_bytes == pytest.approx((4464 - 250) * MIB, rel=0.05)
