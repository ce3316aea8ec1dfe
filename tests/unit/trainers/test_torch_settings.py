"""Settings of all of PyTorch that a script makes: followed, in doubt, or of no matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.support.explained import explained
from validation.record_variations import CARD, rows
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

SIZES = "B, T, V, C = "


def doubts(folder: Path, setting: str, name: str = "compiled") -> list[str]:
    lines = TEXTS[f"settings: {name}"].splitlines(keepends=True)
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
        ("torch._dynamo.config.disable = True", "disable"),
        ("import torch._dynamo.config as c; c.assume_static_by_default = False", "assume_static"),
        ("torch._dynamo.config.cache_size_limit = 1", "cache_size_limit"),
        ("os.environ['TORCHDYNAMO_DISABLE'] = '1'", "TORCHDYNAMO_DISABLE"),
    ],
)
def test_what_may_change_a_graph_is_a_doubt(tmp_path: Path, setting: str, named: str) -> None:
    assert named in doubts(tmp_path, setting)[0]


@pytest.mark.parametrize(
    "setting",
    [
        "torch._inductor.config.coordinate_descent_tuning = True",
        "torch._dynamo.config.cache_size_limit = 64",
        "torch._dynamo.config.suppress_errors = True",
        "os.environ['TORCHINDUCTOR_CACHE_DIR'] = 'cache'",
        "torch.set_float32_matmul_precision('high')",
        "torch.backends.cudnn.benchmark = True",
    ],
)
def test_what_chooses_kernels_is_none(tmp_path: Path, setting: str) -> None:
    assert doubts(tmp_path, setting) == []


def test_torch_compiles_own_are_none_where_nothing_is_compiled(tmp_path: Path) -> None:
    assert doubts(tmp_path, "torch._functorch.config.activation_memory_budget = 0.5", "base") == []


def test_a_variable_of_the_launch_line_that_turns_it_off_is_a_doubt(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TEXTS["settings: compiled"], encoding="utf-8")
    line = ("--", "env", "TORCH_COMPILE_DISABLE=1", "python", str(tmp_path / "train.py"))
    told = nanolint("launch", "--gpu=rtx-4090", *line)
    assert "TORCH_COMPILE_DISABLE" in told.out


def test_a_function_that_is_wrapped_in_autocast_is_cast_inside(tmp_path: Path) -> None:
    text = TEXTS["settings: no autocast"]
    made = "model = GPT().to(device)\n"
    wrapped = "GPT.forward = torch.autocast('cuda', dtype=torch.bfloat16)(GPT.forward)\n"
    found = explained(tmp_path, text.replace(made, wrapped + made), card=CARD)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == rows()["settings: base"]["allocated"]
