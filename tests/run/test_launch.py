"""Launch lines as people paste them."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from nanolint.run.launch import Launch, NotALaunch, read_launch_line
from nanolint.source.values import Known


def read(line: str) -> Launch:
    return read_launch_line(shlex.split(line))


def test_everything_at_once() -> None:
    launch = read(
        "PYTORCH_ALLOC_CONF=expandable_segments:True torchrun --standalone --nproc_per_node=8 "
        "train.py config/train_gpt2.py --batch_size=32 --compile=False"
    )
    assert launch == Launch(
        script=Path("train.py"),
        configs=(Path("config/train_gpt2.py"),),
        overrides=(("batch_size", Known(32)), ("compile", Known(False))),
        world_size=8,
        allocator="expandable",
    )


@pytest.mark.parametrize(
    ("line", "world_size"),
    [
        ("python train.py", 1),
        ("python3.12 -u -X dev -W ignore train.py", 1),
        ("./train.py", 1),
        ("torchrun train.py", 1),
        ("torchrun --nproc-per-node 4 --nnodes=2 train.py", 8),
        ("torchrun --nnodes 1:4 --nproc_per_node 2 --rdzv_endpoint host:1 train.py", 2),
        ("torchrun -r 3 -t 3 --log-dir logs --nproc_per_node=2 train.py", 2),
        ("/opt/venv/bin/torchrun --nproc_per_node=2 /code/train.py", 2),
        ("python -m torch.distributed.run --nproc_per_node=4 train.py", 4),
        ("python -m torch.distributed.launch --use-env --nproc_per_node=4 train.py", 4),
        ("CUDA_VISIBLE_DEVICES=0,1,3 torchrun --nproc_per_node=gpu train.py", 3),
        ("torchrun --nproc_per_node=gpu train.py", None),
        ("torchrun --nproc_per_node=$N train.py", None),
        ("WORLD_SIZE=4 RANK=0 python train.py", 4),
        ("srun -n8 python train.py", 8),
        ("srun -p gpu --ntasks 4 -t 1:00:00 python train.py", 4),
        ("srun --nodes=2 --ntasks-per-node=8 --gres=gpu:8 python train.py", 16),
        ("srun -N 2 torchrun --nnodes 2 --nproc_per_node 8 train.py", 16),
        ("torchrun --nproc_per_node 2 --no_python python train.py", 2),
        ("env A=1 nohup uv run torchrun --nproc_per_node 2 train.py", 2),
    ],
)
def test_the_world_size(line: str, world_size: int | None) -> None:
    launch = read(f"{line} config/x.py --seed=1")
    assert launch.world_size == world_size
    assert launch.script.name == "train.py"
    assert launch.configs == (Path("config/x.py"),)


@pytest.mark.parametrize(
    ("variables", "allocator"),
    [
        ("", None),
        ("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "expandable"),
        ("PYTORCH_ALLOC_CONF=expandable_segments:False", "default"),
        ("PYTORCH_ALLOC_CONF=max_split_size_mb:64,expandable_segments:True", "expandable"),
    ],
)
def test_the_allocator(variables: str, allocator: str | None) -> None:
    assert read(f"{variables} python train.py").allocator == allocator


def test_what_is_not_replayed_is_told() -> None:
    (remark,) = read("PYTORCH_ALLOC_CONF=max_split_size_mb:64 python train.py").remarks
    assert remark == "PYTORCH_ALLOC_CONF: max_split_size_mb is not replayed"


def test_srun_alone_makes_no_run_of_several_processes() -> None:
    (remark,) = read("srun -n 8 python train.py").remarks
    assert "RANK" in remark
    assert read("srun -n 8 torchrun --nproc_per_node 8 train.py").remarks == ()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "expected torchrun, python or srun, and the training script"),
        ("make train", "expected torchrun, python or srun, and the training script"),
        ("torchrun --nproc_per_node=8", "the launch line ends before the training script"),
        ("python -c pass", "python -c launches no training script"),
        ("python -m pytest train.py", "python -m pytest launches no training script"),
        ("torchrun -m pkg.train", "torchrun --module launches no training script"),
        ("python train", "expected the training script, found train"),
        ("python train.py --batch_size 32", "nanoGPT needs a value: --batch_size=VALUE"),
    ],
)
def test_what_is_no_launch(line: str, told: str) -> None:
    with pytest.raises(NotALaunch) as error:
        read(line)
    assert str(error.value) == told
