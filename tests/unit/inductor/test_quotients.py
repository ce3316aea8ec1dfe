"""Places that stay quotients before PyTorch 2.12.

The expressions are what torch/_inductor/sizevars.py of 2.11, ``simplify_with_ranges``, makes of
the indices that ``View.dynamic_reshape_indexer`` leads to.
"""

from __future__ import annotations

from typing import Any

import pytest

from nanolint.inductor.derive.uneven import APART, leaves_quotients
from nanolint.tensors.ops import registry as ops

VIEW = (ops.VIEW,)
FLAT = ((1024, 4, 1), (8, 256, 4), (ops.VIEW, APART), (8192,))
WIDE = (*FLAT, VIEW, (8192, 1), (ops.EXPAND,), (8192, 128))


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (FLAT, False),  # c
        ((*FLAT, VIEW, (8, 256, 4)), True),  # 1024*i + 4*j + k + 1024*((4*j + k)//1024)
        ((*FLAT, VIEW, (8, 1024)), False),  # 1024*i + j
        ((*FLAT, VIEW, (2048, 4)), False),  # 4*i + j: both quotients are of 4*i + j, and joined
        ((*WIDE, VIEW, (8, 256, 4, 128)), True),
        (((0, 4, 1), *FLAT[1:], VIEW, (8, 256, 4)), False),  # it is the first dimension's quotient
        (((4, 1), (2048, 4), (ops.VIEW, APART), (8192,), VIEW, (8, 256, 4)), False),
        (((512, 2, 1), (8, 256, 2), (ops.VIEW, APART), (2048, 2), VIEW, (8, 256, 2)), False),
        (((1024, 1), (8, 1024), (ops.VIEW, APART), (8192,), VIEW, (8, 256, 4)), True),
        (((1024, 1), (8, 1024), (ops.VIEW, APART), (8, 256, 4)), False),  # 4*j + k, no division
    ],
)
def test_a_quotient_is_left_of_two_loops_or_more(seen: tuple[Any, ...], *, expected: bool) -> None:
    assert leaves_quotients(seen) is expected
