"""Calls in PyTorch's own words: by name, and in a method's order.

The figures are of PyTorch 2.13, traced (``nanolint trace --gpu rtx-4070``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
ATTENTION = "        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)\n"
MASKED = (
    "        att = q @ k.transpose(-2, -1)\n"
    "        mask = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()\n"
    "        att = {}\n"
    "        y = att.softmax(dim=-1) @ v\n"
)
SAID = """\
        y = torch.flip(y, dims=[2]).permute(dims=(0, 1, 2, 3)).reshape(shape=(B, 4, T, C // 4))
        y = torch.nan_to_num(y, nan=0.0, posinf=1e4, neginf=-1e4)
        y = torch.swapaxes(y, axis0=1, axis1=2).swapaxes(1, 2)
        y = y + y.sum(axis=-1, keepdims=True) + torch.max(input=y, other=y * 2)
        y = torch.round(y, decimals=2) + y + y.repeat(repeats=(1, 1, 1, 1))
        y = torch.cat(y.split(split_size=64, dim=2), dim=2)
        y = torch.where(condition=y > 0, input=y, other=y * 2)
        y = y.where(condition=y > 0, other=0.0)
        y = y + torch.zeros(1, device=x.device).expand(size=(B, 4, T, C // 4))
        y = y + torch.tensordot(a=y, b=torch.eye(C // 4, device=x.device), dims=1)
        y = torch.tile(y, dims=(1, 1, 1, 1)).view(size=(B, 4, T, C // 4))
"""


def peaks(folder: Path, text: str) -> tuple[int, int]:
    found = explained(folder, text, "--torch-version", "2.13", card="rtx-4070")
    assert found["trust"] == "read", found
    return found["peak"]["allocated_bytes"], found["peak"]["reserved_bytes"]


@pytest.mark.parametrize(
    "chosen",
    [
        "att.where(mask, float('-inf'))",
        "att.where(condition=mask, other=float('-inf'))",
        "torch.where(mask, att, float('-inf'))",
        "torch.where(condition=mask, input=att, other=float('-inf'))",
    ],
)
def test_the_condition_of_where_comes_second_in_the_method(tmp_path: Path, chosen: str) -> None:
    text = BASE.replace(ATTENTION, MASKED.format(chosen))
    assert peaks(tmp_path, text) == (113_236_480, 136_314_880)


def test_arguments_that_are_given_by_name(tmp_path: Path) -> None:
    assert peaks(tmp_path, BASE.replace(ATTENTION, ATTENTION + SAID)) == (83_269_120, 98_566_144)
