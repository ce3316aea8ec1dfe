"""Spring 2023's train.py multiplies the accumulation where it runs without DDP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nanolint.run.settled import Options
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.project import find_project
from nanolint.trainers.nanogpt.resolve import resolve
from tests.support.harness import Bench
from tests.support.project_tree import SETTINGS, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.run.run import Run

SIMULATED = """
ddp = int(os.environ.get('RANK', -1)) != -1
if ddp:
    device = 'cuda:' + os.environ['LOCAL_RANK']
else:
    seed_offset = 0
    gradient_accumulation_steps *= 8  # simulate 8 gpus
"""
FIVE = SETTINGS.replace("gradient_accumulation_steps = 5 * 8", "gradient_accumulation_steps = 5")


def resolved(root: Path, world: str, **options: Any) -> Run:
    script = train_script(settings=FIVE, world=world)
    project = find_project(write_project(root, {"train.py": script}) / "config" / "x.py")
    assert project.doubts == ()
    run = resolve(None, project, Options(**options), None).outline
    assert run is not None
    return run


def test_one_gpu_makes_as_many_micro_steps_as_it_simulates(tmp_path: Path) -> None:
    run = resolved(tmp_path, SIMULATED)
    assert run.gradient_accumulation_steps == 5
    assert (run.micro_steps, run.effective_batch_size) == (40, 480)
    assert run.tokens_per_iter == 491_520


def test_with_ddp_nothing_is_simulated(tmp_path: Path) -> None:
    run = resolved(tmp_path, SIMULATED, world_size=8)
    assert (run.micro_steps, run.effective_batch_size) == (5, 480)


@pytest.mark.parametrize(
    ("world", "micro_steps"),
    [
        (SIMULATED.replace("*= 8", "*= 3"), 15),
        (SIMULATED.replace("*= 8", "= gradient_accumulation_steps * 4"), 20),
        (SIMULATED.replace("*= 8", "= 4 * gradient_accumulation_steps"), 20),
        ("if not ddp:\n    gradient_accumulation_steps *= 2\n", 10),
        (SIMULATED.replace("*= 8", "*= count()"), 5),
        ("if ddp:\n    gradient_accumulation_steps *= 2\n", 5),
        ("if compile:\n    pass\nelse:\n    gradient_accumulation_steps *= 2\n", 5),
    ],
)
def test_the_factor_is_read_from_the_branch_without_ddp(
    tmp_path: Path, world: str, micro_steps: int
) -> None:
    assert resolved(tmp_path, world).micro_steps == micro_steps


def test_an_inherited_accumulation_is_told_with_the_factor(tmp_path: Path) -> None:
    write_project(tmp_path, {"train.py": train_script(settings=FIVE, world=SIMULATED)})
    bench = Bench("NL312", path=tmp_path / "config" / "x.py")
    found = bench.finding("batch_size = 12\n")
    assert "train.py's 5 applies, times 8 on one GPU" in found.message
    assert "480 sequences, 491,520 tokens" in found.message


def test_an_accumulation_of_one_leaves_gradients_between_the_micro_steps(tmp_path: Path) -> None:
    write_project(tmp_path, {"train.py": train_script(settings=FIVE, world=SIMULATED)})
    project = find_project(tmp_path / "config" / "x.py")
    options = Options(overrides=(("gradient_accumulation_steps", Known(1)),))
    run = resolve(None, project, options, None).outline
    assert run is not None
    assert run.micro_steps == 8
