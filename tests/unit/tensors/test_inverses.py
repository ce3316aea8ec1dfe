"""Inverse functions against what PyTorch 2.13 did: allocations in order, releases between."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tables.operations import entries, recorded_entries

# (expression, mode, inputs, events) as validation/oracle_operations tells them.
ASKED: tuple[tuple[str, str, dict[str, Any], list[list[int]]], ...] = (
    (
        "torch.logit(x)",
        "plain",
        {"x": [[3, 64], [1, 0], "float32", True]},
        [[0, 768], [1, 768], [0]],
    ),
    (
        "torch.asin(x)",
        "plain",
        {"x": [[96, 64, 16], [0, 1, 2], "bfloat16", True]},
        [
            [0, 196608],
            [1, 196608],
            [2, 196608],
            [3, 196608],
            [4, 196608],
            [5, 196608],
            [4],
            [3],
            [2],
            [1],
            [0],
        ],
    ),
    (
        "torch.acos(x)",
        "autocast",
        {"x": [[2, 64, 64], [1, 2, 0], "float32", True]},
        [
            [0, 32768],
            [1, 32768],
            [2, 32768],
            [3, 32768],
            [4, 32768],
            [5, 32768],
            [6, 32768],
            [5],
            [4],
            [3],
            [2],
            [1],
            [0],
        ],
    ),
    (
        "torch.asinh(x)",
        "autocast",
        {"x": [[3, 64, 3, 64], [0, 1, 2, 3], "float32", True]},
        [[0, 147456], [1, 147456], [2, 147456], [3, 147456], [4, 147456], [3], [2], [1], [0]],
    ),
    (
        "torch.acosh(x)",
        "autocast",
        {"x": [[2, 96, 16], [0, 1, 2], "bfloat16", True]},
        [[0, 6144], [1, 6144], [2, 6144], [3, 6144], [4, 6144], [3], [2], [1], [0]],
    ),
    (
        "torch.atanh(x)",
        "autocast",
        {"x": [[3, 2, 130], [0, 1, 2], "bfloat16", True]},
        [[0, 1560], [1, 1560], [2, 1560], [3, 1560], [4, 1560], [3], [2], [1], [0]],
    ),
    (
        "torch.atan2(x, y)",
        "autocast",
        {
            "x": [[1, 2, 16], [2, 0, 1], "bfloat16", True],
            "y": [[16, 1, 2], [0, 1, 2], "bfloat16", False],
        },
        [
            [0, 64],
            [1, 64],
            [2, 64],
            [3, 64],
            [2],
            [1],
            [4, 64],
            [5, 32],
            [5],
            [6, 64],
            [7, 64],
            [6],
            [4],
            [3],
            [0],
        ],
    ),
    (
        "x * torch.logspace(0, 1, x.shape[-1], device=x.device)",
        "plain",
        {"x": [[2, 3, 64, 16], [1, 2, 3, 0], "float16", True]},
        [[0, 8], [1, 24576], [2, 24576], [3, 12288], [2], [0], [1]],
    ),
)


@pytest.mark.parametrize("asked", ASKED, ids=[each[0] for each in ASKED])
def test_an_inverse_function_allocates_and_releases_what_torch_does(
    asked: tuple[str, str, dict[str, Any], list[list[int]]],
) -> None:
    expression, mode, inputs, events = asked
    case = {
        "name": expression,
        "expression": expression,
        "mode": mode,
        "inputs": inputs,
        "events": events,
    }
    assert entries(case) == recorded_entries(case)
