"""What numpy makes has its own types; events as PyTorch has them for the same statements.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.trainers.test_arrays_of_numpy import peak


@pytest.mark.parametrize(
    ("made", "bytes_each"),
    [
        ("np.ones((300, 300))", 8),
        ("np.tril(np.ones((300, 300)), k=-1)", 8),
        ("np.sin(np.arange(300 * 300))", 8),
        ("np.zeros((300, 300), dtype=np.float32)", 4),
        ("np.zeros((300, 300), dtype=bool)", 1),
        ("np.full((300, 300), 2.0)", 8),
        ("(np.ones((300, 300)) == 0).astype(float)", 8),
        ("np.triu(np.ones((300, 300)), k=1).astype('uint8')", 1),
        ("np.maximum(np.zeros((300, 1), dtype=bool), np.ones((1, 300)))", 8),
        ("np.array([[0.5] * 300] * 300)", 8),
        ("np.where(np.arange(300 * 300) > 5, 1, 0)", 8),
    ],
)
def test_it_takes_as_many_bytes_as_numpy_gives_it(
    tmp_path: Path, made: str, bytes_each: int
) -> None:
    found = peak(tmp_path, f"made = torch.from_numpy({made}).cuda()") - peak(tmp_path)
    assert found == -(-300 * 300 * bytes_each // 512) * 512
