"""Norms of other orders than 2: their gradients are written with other operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
import torch
model = torch.nn.Linear(512, 4096).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(10):
    h = model(torch.randn(4096, 512, device="cuda"))
    loss = (NORM * 1.0).sum()
    loss.backward()
    pass
    optimizer.step()
    optimizer.zero_grad()
"""
BYTES = 293_930_496, 446_693_376  # as PyTorch 2.13 counts: allocated and reserved at the peak


@pytest.mark.parametrize(
    "norm",
    [
        "h.norm(dim=-1)",
        "h.norm(1, dim=-1)",
        "torch.linalg.vector_norm(h, ord=1, dim=-1)",
        "torch.linalg.norm(h, ord=2, dim=-1)",
        "torch.linalg.norm(h, dim=-1)",
    ],
)
def test_the_gradients_of_orders_1_and_2_are_read(tmp_path: Path, norm: str) -> None:
    text = TEXT.replace("NORM", norm)
    found = explained(tmp_path, text, "--torch-version", "2.13", card="rtx-4090")
    assert found["trust"] == "read"
    assert (found["peak"]["allocated_bytes"], found["peak"]["reserved_bytes"]) == BYTES


@pytest.mark.parametrize(
    "norm", ["h.norm(3, dim=-1)", "h.norm(float('inf'), dim=-1)", "h.norm('nuc')"]
)
def test_those_of_others_are_not_known(tmp_path: Path, norm: str) -> None:
    assert explained(tmp_path, TEXT.replace("NORM", norm))["trust"] != "read"


def test_without_a_gradient_each_order_is_one_sum(tmp_path: Path) -> None:
    text = TEXT.replace("NORM", "h.norm(dim=-1)")
    largest = text.replace("pass", "print(model.weight.grad.norm(3, dim=-1))")
    plain = text.replace("pass", "print(model.weight.grad.norm(dim=-1))")
    found = explained(tmp_path, largest)
    assert found["trust"] == "read"
    assert found["phases"] == explained(tmp_path, plain)["phases"]


@pytest.mark.parametrize("order", ["2", "ord=2", "ord='nuc'", "-1"])
def test_the_norm_of_a_matrix_is_another_computation(tmp_path: Path, order: str) -> None:
    text = TEXT.replace("NORM", "h.norm(dim=-1)")
    called = f"print(torch.linalg.norm(model.weight.grad, {order}))"
    assert explained(tmp_path, text.replace("pass", called))["trust"] != "read"


def test_but_its_frobenius_norm_is_that_of_its_elements(tmp_path: Path) -> None:
    text = TEXT.replace("NORM", "h.norm(dim=-1)")
    whole = "print(torch.linalg.norm(model.weight.grad{}))"
    found = [
        explained(tmp_path, text.replace("pass", whole.format(order)))
        for order in ("", ", 'fro'", ".flatten(), ord=2")
    ]
    assert [each["trust"] for each in found] == ["read"] * 3
    assert found[0]["phases"] == found[1]["phases"] == found[2]["phases"]
