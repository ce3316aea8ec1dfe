"""Launch lines as people paste them."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from nanolint.launches.launch import Launch, NotALaunch, Processes
from nanolint.launches.line import read_launch_line


def read(line: str) -> Launch:
    found = read_launch_line(shlex.split(line))
    assert isinstance(found, Launch)
    return found


def words(launch: Launch) -> list[str]:
    return [argument.text for argument in launch.arguments]


def test_everything_at_once() -> None:
    launch = read(
        "PYTORCH_ALLOC_CONF=expandable_segments:True torchrun --standalone --nproc_per_node=8 "
        "train.py config/train_gpt2.py --batch_size=32 config/x.py --compile=False"
    )
    assert launch.script == Path("train.py")
    assert words(launch) == [
        "config/train_gpt2.py",
        "--batch_size=32",
        "config/x.py",
        "--compile=False",
    ]
    assert launch.processes == Processes(8, ranked=True, local=8)
    assert launch.allocator == "expandable"


@pytest.mark.parametrize(
    ("line", "world_size"),
    [
        ("python train.py", 1),
        ("python3.12 -u -X dev -W ignore train.py", 1),
        ("./train.py", 1),
        ("torchrun train.py", 1),
        ("torchrun --nproc-per-node 4 --nnodes=2 train.py", 8),
        ("torchrun --nnodes 2:2 --nproc_per_node 2 --rdzv_endpoint host:1 train.py", 4),
        ("torchrun --nproc=2 --nn 2 train.py", 4),
        ("torchrun -r 3 -t 3 --log-dir logs --nproc_per_node=2 train.py", 2),
        ("/opt/venv/bin/torchrun --nproc_per_node=2 /code/train.py", 2),
        ("python -m torch.distributed.run --nproc_per_node=4 train.py", 4),
        ("python -m torch.distributed.launch --use-env --nproc_per_node=4 train.py", 4),
        ("CUDA_VISIBLE_DEVICES=0,1,3 torchrun --nproc_per_node=gpu train.py", 3),
        ("CUDA_VISIBLE_DEVICES=0,1, torchrun --nproc_per_node=gpu train.py", 2),
        ("CUDA_VISIBLE_DEVICES=GPU-8932f937-d72c torchrun --nproc_per_node=auto train.py", 1),
        ("CUDA_VISIBLE_DEVICES=-1 torchrun --nproc_per_node=gpu train.py", None),
        ("torchrun --nproc_per_node=gpu train.py", None),
        ("torchrun --nproc_per_node=$N train.py", None),
        ("WORLD_SIZE=4 RANK=0 python train.py", 4),
        ("srun -n8 python train.py", 8),
        ("srun -p gpu --ntasks 4 -t 1:00:00 python train.py", 4),
        ("srun --nodes=2 --ntasks-per-node=8 --gres=gpu:8 python train.py", 16),
        ("srun -N 2 torchrun --nnodes 2 --nproc_per_node 8 train.py", 16),
        ("torchrun --nproc_per_node 2 --no_python python train.py", 2),
        ("python -mtorch.distributed.run --nproc_per_node=4 train.py", 4),
        ("python -um torch.distributed.run --nproc_per_node=4 train.py", 4),
        ("accelerate launch --num_processes 4 --mixed_precision bf16 train.py", 4),
        ("accelerate launch --multi_gpu --num-processes=2 train.py", 2),
        ("python -m accelerate.commands.launch --num_processes 4 train.py", 4),
        ("accelerate launch train.py", None),
        ("accelerate launch --config_file x.yaml train.py", None),
        ("deepspeed --num_gpus=4 train.py", 4),
        ("deepspeed --num_gpus=4 --num_nodes 2 train.py", 8),
        ("deepspeed --include localhost:0,2 train.py", 2),
        ("deepspeed --hostfile hosts --num_gpus=4 train.py", None),
        ("deepspeed train.py", None),
        ("mpirun -np 4 --bind-to none -x PATH python train.py", 4),
        ("mpiexec -n 2 python train.py", 2),
        ("mpirun -H a,b python train.py", None),
        ("horovodrun -np 4 python train.py", 4),
        ("srun -n 2 python train.py --nodes=4", 2),
        ("env A=1 nohup uv run torchrun --nproc_per_node 2 train.py", 2),
        ("uv run train.py", 1),
        ("uv run --with torch python train.py", 1),
        ("docker run --gpus all image python train.py", 1),
        ("timeout 1h nice -n 5 python train.py", 1),
        ("nohup mylauncher train.py", None),
    ],
)
def test_the_world_size(line: str, world_size: int | None) -> None:
    launch = read(f"{line} config/x.py --seed=1")
    assert launch.processes.count == world_size
    assert (launch.processes.why is None) is (world_size is not None)
    assert launch.script.name == "train.py"
    assert words(launch)[-2:] == ["config/x.py", "--seed=1"]


@pytest.mark.parametrize(
    ("line", "count", "why"),
    [
        (
            "torchrun --nnodes=1:4 --nproc_per_node=2 train.py",
            2,
            "--nnodes=1:4 allows 1 to 4 machines; assuming 1",
        ),
        ("launchpad -n 8 python train.py", None, "the command that launchpad starts is unknown"),
        (
            "CUDA_VISIBLE_DEVICES=-1 torchrun --nproc_per_node=gpu train.py",
            None,
            "CUDA_VISIBLE_DEVICES=-1 leaves no GPU",
        ),
        (
            "accelerate launch train.py",
            None,
            "accelerate reads their number from its own configuration",
        ),
        ("torchrun --nproc_per_node=x train.py", None, "x is not a number of processes"),
        (
            "torchrun --nproc_per_node=gpu --nnodes=2 train.py",
            None,
            "it is the number of GPUs in the machine",
        ),
    ],
)
def test_what_is_not_known_of_the_processes_is_told(line: str, count: int | None, why: str) -> None:
    found = read(line).processes
    assert (found.count, found.why, found.ranked) == (count, why, "torchrun" in line)


@pytest.mark.parametrize(
    ("line", "script", "arguments"),
    [
        ("python -m train config/x.py", "train.py", ["config/x.py"]),
        ("python -m lab.gpt.train --a=1", "lab/gpt/train.py", ["--a=1"]),
        (
            "torchrun --nproc_per_node=8 -m scripts.base_train -- --depth=12",
            "scripts/base_train.py",
            ["--depth=12"],
        ),
        ("torchrun --module lab.train --a=1", "lab/train.py", ["--a=1"]),
        ("accelerate launch -m lab.train --a=1", "lab/train.py", ["--a=1"]),
    ],
)
def test_modules(line: str, script: str, arguments: list[str]) -> None:
    launch = read(line)
    assert (launch.script, launch.is_module) == (Path(script), True)
    assert words(launch) == arguments


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
    assert remark == "PYTORCH_ALLOC_CONF: max_split_size_mb is not modelled"


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
        ("python -c pass", "python -c starts no training script"),
        ("echo python train.py", "expected torchrun, python or srun, and the training script"),
        ("python -m", " is not the name of a module"),
        ("bash train.sh", "train.sh is a script of its own"),
        ("python train", "expected the training script, found train"),
    ],
)
def test_what_is_no_launch(line: str, told: str) -> None:
    with pytest.raises(NotALaunch) as error:
        read(line)
    assert str(error.value) == told


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("deepspeed --num_gpus 2 train.py --deepspeed ds.json --lr 1", ["ds.json"]),
        ("deepspeed --num_gpus 2 train.py --deepspeed_config=conf/ds.json", ["conf/ds.json"]),
        ("accelerate launch --config_file a.yaml --num_processes 2 train.py", ["a.yaml"]),
        ("accelerate launch --num_processes 2 train.py --deepspeed", []),
        ("python train.py --data x.json", []),
    ],
)
def test_a_file_that_decides_and_is_not_read_is_named(line: str, named: list[str]) -> None:
    remarks = read(line).remarks
    told = [each.removeprefix("nanolint reads ").partition(" ")[0] for each in remarks]
    assert told == named
