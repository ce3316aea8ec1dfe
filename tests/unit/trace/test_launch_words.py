"""The words behind ``nanolint trace --``."""

from __future__ import annotations

import pytest

from nanolint.trace.launch import Command, NotTraceable, read_command


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("python train.py config/x.py --a=1", Command(("train.py", "config/x.py", "--a=1"))),
        ("./train.py", Command(("./train.py",))),
        ("train.py", Command(("train.py",))),
        (".venv/bin/python3.12 -u -X dev train.py",
         Command(("train.py",), python=".venv/bin/python3.12")),
        ("python -m scripts.base_train -- --depth=12",
         Command(("scripts.base_train", "--", "--depth=12"), module=True)),
        ("OMP_NUM_THREADS=1 torchrun --standalone --nproc_per_node=8 train.py a.py",
         Command(("train.py", "a.py"), world_size=8, environment=(("OMP_NUM_THREADS", "1"),),
                 ranked=True)),
        ("torchrun --nnodes 2 --nproc-per-node 4 -m pkg.train",
         Command(("pkg.train",), module=True, world_size=8, ranked=True)),
        ("torchrun --nproc_per_node=8 -m scripts.base_train -- --depth=12",
         Command(("scripts.base_train", "--depth=12"), module=True, world_size=8, ranked=True)),
        ("torchrun --nproc_per_node=gpu train.py", Command(("train.py",), ranked=True)),
        ("torchrun --nproc_per_node=1 train.py",
         Command(("train.py",), world_size=1, ranked=True)),
        ("python -m torch.distributed.run --nproc_per_node=2 t.py",
         Command(("t.py",), world_size=2, ranked=True)),
        ("uv run --no-sync train.py", Command(("train.py",))),
        ("accelerate launch --num_processes 2 train.py", Command(("train.py",), world_size=2)),
        ("env A=b nohup python train.py", Command(("train.py",), environment=(("A", "b"),))),
    ],
)  # fmt: skip
def test_they_say_what_is_started(line: str, command: Command) -> None:
    assert read_command(line.split()) == command


@pytest.mark.parametrize("line", ["", "python", "python -c pass", "bash run.sh", "torchrun"])
def test_what_starts_no_python_script_is_refused(line: str) -> None:
    with pytest.raises(NotTraceable):
        read_command(line.split())
