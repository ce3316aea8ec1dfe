"""What the process holds outside PyTorch's allocator, against figures measured on real cards."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.units import GIB, MIB
from nanolint.verdict.replay import overhead
from tests.support.runs import card


@pytest.mark.parametrize(
    ("name", "measured"),
    [
        ("t4", 135),
        ("rtx-3060", 245),
        ("rtx-4060-ti-8gb", 245),
        ("rtx-4070", 250),
        ("l4", 255),
        ("rtx-3090", 315),
        ("v100-16gb", 319),
        ("rtx-4090", 500),
        ("rtx-5090", 670),
        ("h100", 614),
        ("h200", 665),
        ("b200", 710),
    ],
)
def test_a_measured_context_lies_in_the_interval(name: str, measured: int) -> None:
    held = overhead(card(name).gpu)
    assert held.low <= measured * MIB <= held.high
    assert held.low < held.expected < held.high


@pytest.mark.parametrize(
    ("capability", "per_sm"),
    [((7, 5), 3), ((8, 0), 3), ((9, 0), 4.5), ((10, 0), 4.5), ((12, 0), 3), (None, 3)],
)
def test_data_centre_cards_hold_half_as_much_again_for_each_sm(
    capability: tuple[int, int] | None, per_sm: float
) -> None:
    gpu = replace(card("h100").gpu, sm_count=100, compute_capability=capability)
    assert overhead(gpu).low == 100 * per_sm * MIB


def test_more_processes_hold_the_buffers_that_connect_them() -> None:
    gpu = card("a100-40gb").gpu
    alone, many = overhead(gpu, 1), overhead(gpu, 2)
    assert alone == overhead(gpu)
    assert (many.low - alone.low, many.high - alone.high) == (300 * MIB, 900 * MIB)


@pytest.mark.parametrize(("gib", "sm_count"), [(2, 20), (5, 20), (8, 32), (24, 96), (80, 144)])
def test_a_card_that_is_only_a_size_has_the_usual_number_of_sms(gib: int, sm_count: int) -> None:
    gpu = replace(card("24GiB").gpu, total_bytes=gib * GIB)
    assert gpu.sm_count is None
    assert overhead(gpu).low == 3 * MIB * sm_count
