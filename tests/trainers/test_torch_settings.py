"""Settings of all of PyTorch that a script makes: followed, in doubt, or of no matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trainers.test_own_data import explained
from validation.variations import text_of

if TYPE_CHECKING:
    from pathlib import Path

SIZES = "B, T, V, C = "


def doubts(folder: Path, setting: str, name: str = "compiled") -> list[str]:
    lines = text_of(name).splitlines(keepends=True)
    place = next(at for at, line in enumerate(lines) if line.startswith(SIZES))
    lines.insert(place, f"{setting}\n")
    found: list[str] = explained(folder, "".join(lines))["doubts"]
    return found


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("torch._functorch.config.activation_memory_budget = 0.5", "activation_memory_budget"),
        ("import torch._inductor.config as config; config.max_autotune = True", "max_autotune"),
        ("torch.use_deterministic_algorithms(True)", "torch.use_deterministic_algorithms"),
    ],
)
def test_what_may_change_a_graph_is_a_doubt(tmp_path: Path, setting: str, named: str) -> None:
    assert named in doubts(tmp_path, setting)[0]


@pytest.mark.parametrize(
    "setting",
    [
        "torch._inductor.config.coordinate_descent_tuning = True",
        "torch._dynamo.config.cache_size_limit = 64",
        "torch.set_float32_matmul_precision('high')",
        "torch.backends.cudnn.benchmark = True",
    ],
)
def test_what_chooses_kernels_is_none(tmp_path: Path, setting: str) -> None:
    assert doubts(tmp_path, setting) == []


def test_torch_compiles_own_are_none_where_nothing_is_compiled(tmp_path: Path) -> None:
    assert doubts(tmp_path, "torch._functorch.config.activation_memory_budget = 0.5", "base") == []
