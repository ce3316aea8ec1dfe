"""The scratch of CUB's sorts, as ``nanolint trace`` saw PyTorch ask for it."""

from __future__ import annotations

import pytest

from nanolint.tensors.ops.sums import radix_sort_bytes, scan_bytes, unique_bytes

T4, A100, RTX_3090, RTX_4090, H100, RTX_5090 = (7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (12, 0)


@pytest.mark.parametrize(
    ("release", "capability", "count", "rows", "sort", "unique", "scan"),
    [  # of the gradient of an embedding: bytes asked for
        ((2, 13), T4, 12_288, 6_400, 206_335, 1_791, 1_279),
        ((2, 13), T4, 1_000_000, 50_304, 16_369_151, 51_199, 2_047),
        ((2, 13), A100, 12_288, 6_400, 205_311, 1_279, 1_279),
        ((2, 13), A100, 400_000, 50_304, 6_512_127, 5_887, 2_047),
        ((2, 13), A100, 1_000_000, 50_304, 16_271_871, 13_055, 2_047),
        ((2, 13), RTX_3090, 20_000, 50_304, 330_751, 2_047, 1_535),
        ((2, 13), RTX_4090, 10_880, 6_400, 181_759, 1_791, 1_279),
        ((2, 13), RTX_4090, 1_000_000, 50_304, 16_271_871, 51_199, 2_047),
        ((2, 13), H100, 12_288, 6_400, 204_287, 1_279, 1_279),
        ((2, 13), H100, 1_000_000, 50_304, 16_227_839, 4_351, 2_047),
        ((2, 13), RTX_5090, 400_000, 50_304, 6_493_695, 2_559, 2_047),
        ((2, 9), A100, 12_288, 6_400, 217_599, 1_023, 1_023),
        ((2, 9), H100, 400_000, 50_304, 6_505_983, 2_303, 1_791),
        ((2, 10), T4, 400_000, 50_304, 6_563_327, 20_991, 1_791),
        ((2, 12), A100, 400_000, 50_304, 6_524_415, 4_607, 2_047),
        ((2, 12), RTX_4090, 12_288, 6_400, 217_599, 1_791, 1_279),
    ],
)
def test_the_scratch_is_what_the_card_is_asked_for(
    release: tuple[int, int],
    capability: tuple[int, int],
    count: int,
    rows: int,
    sort: int,
    unique: int,
    scan: int,
) -> None:
    assert radix_sort_bytes(count, rows, capability, release) == sort
    assert unique_bytes(count, capability, release) == unique
    assert scan_bytes(min(count, rows), release) == scan
