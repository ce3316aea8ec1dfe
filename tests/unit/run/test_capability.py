"""What PyTorch would choose on a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.gpus.gpu import Gpu
from nanolint.gpus.lookup import find
from nanolint.run.capability import attention_kernel, bfloat16_supported
from nanolint.run.run import Attention
from nanolint.run.settled import Options
from nanolint.trainers.nanogpt.project import find_project
from nanolint.trainers.nanogpt.resolve import resolve
from tests.support.project_tree import train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

FLASH, EFFICIENT, MATH = Attention.FLASH, Attention.EFFICIENT, Attention.MATH


def card(*capability: int) -> Gpu:
    return Gpu("card", "nvidia", 8 << 30, 8 << 30, 40, capability, False, "test")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("capability", "torch_version", "supported"),
    [
        ((8, 0), (2, 0), True),
        ((12, 0), None, True),
        ((7, 5), (2, 2), False),
        ((7, 5), (2, 3), True),
        ((6, 1), None, True),  # emulated, but supported
    ],
)
def test_bfloat16(
    capability: tuple[int, int], torch_version: tuple[int, int] | None, supported: bool
) -> None:
    assert bfloat16_supported(card(*capability), torch_version) is supported


def test_an_unknown_card_is_a_modern_one() -> None:
    bare_size = Gpu("12 GiB", "", 12 << 30, 12 << 30, None, None, False, "size")
    for gpu in (None, bare_size):
        assert bfloat16_supported(gpu, (2, 0))
        assert attention_kernel(gpu, dtype="bfloat16", head_size=64, dropout=False) is FLASH


@pytest.mark.parametrize(
    ("capability", "dtype", "head_size", "dropout", "kernel"),
    [
        ((8, 0), "bfloat16", 64, True, FLASH),
        ((9, 0), "float16", 256, True, FLASH),
        ((8, 0), "bfloat16", 264, False, EFFICIENT),
        ((8, 0), "bfloat16", 65, False, FLASH),  # padded to 72
        ((8, 0), "bfloat16", 257, False, MATH),  # not a multiple of 8
        ((8, 9), "bfloat16", 224, False, EFFICIENT),
        ((8, 9), "bfloat16", 256, False, FLASH),
        ((8, 9), "bfloat16", 256, True, EFFICIENT),
        ((12, 0), "bfloat16", 200, False, EFFICIENT),
        ((8, 0), "float32", 64, False, EFFICIENT),
        ((8, 0), "float32", 66, False, MATH),
        ((7, 5), "float16", 64, False, EFFICIENT),
        ((7, 5), "float16", 60, False, MATH),
        ((7, 5), "float32", 61, False, EFFICIENT),
        ((7, 5), "bfloat16", 64, False, MATH),  # no fused kernel takes it
        ((6, 1), "float16", 61, False, EFFICIENT),
        ((3, 5), "float32", 64, False, MATH),
    ],
)
def test_attention(
    capability: tuple[int, int], dtype: str, head_size: int, dropout: bool, kernel: Attention
) -> None:
    chosen = attention_kernel(card(*capability), dtype=dtype, head_size=head_size, dropout=dropout)
    assert chosen is kernel


def test_a_train_script_that_does_not_count_emulation_picks_float16_on_an_old_card(
    tmp_path: Path,
) -> None:
    script = train_script().replace(
        "is_bf16_supported()", "is_bf16_supported(including_emulation=False)"
    )
    for text, card, dtype in (
        (script, "t4", "float16"),
        (script, "rtx-3090", "bfloat16"),
        (train_script(), "t4", "bfloat16"),
    ):
        root = write_project(tmp_path / f"{card}{len(text)}", {"train.py": text})
        project = find_project(root / "config" / "x.py")
        assert resolve(None, project, Options(), find(card)).known("dtype") == dtype
