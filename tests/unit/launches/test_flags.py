"""The words behind a script that takes flags as argparse does."""

from __future__ import annotations

import pytest

from nanolint.launches.script import find_launches
from nanolint.run.flags import LaunchLine, read_line


def line_of(text: str) -> LaunchLine:
    (found,) = find_launches(text)
    assert found.launch is not None
    return read_line(found.launch.arguments, found.launch.environment, found.launch.script_end)


def flags(text: str) -> list[tuple[str, str | None]]:
    return [(flag.name, flag.value) for flag in line_of(text).flags]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--depth=24 --fp8 --run x", [("--depth", "24"), ("--fp8", None), ("--run", "x")]),
        ("--total -1 --lr -.5", [("--total", "-1"), ("--lr", "-.5")]),
        ("-i sft corpus.bin", [("-i", "sft")]),
        ("--a= --b=c=d", [("--a", ""), ("--b", "c=d")]),
        ("-- --fp8", [("--fp8", None)]),
        ("", []),
    ],
)
def test_with_a_value_and_without(words: str, expected: list[tuple[str, str | None]]) -> None:
    assert flags(f"python train.py {words}") == expected


@pytest.mark.parametrize(
    "line",
    [
        "torchrun --nproc_per_node=8 -m scripts.base_train -- --device-batch-size={}",
        "python -m scripts.base_train --depth 12 \\\n    --device-batch-size {}  # small",
        "python -m torch.distributed.launch --nproc_per_node=2 t.py --device-batch-size {}",
        "accelerate launch --num_processes 4 -m scripts.base_train --device-batch-size {}",
        "deepspeed --num_gpus 4 train.py --device-batch-size {} | tee log.txt",
        "mpirun -np 8 python train.py --device-batch-size {} > out 2>&1",
        "srun uv run python -u train.py --device-batch-size {}",
    ],
)
def test_a_value_can_be_written_anew_where_it_stands(line: str) -> None:
    text = line.format(32)
    (flag,) = (each for each in line_of(text).flags if each.name == "--device-batch-size")
    assert flag.value_place is not None
    rewritten = text[: flag.value_place.start] + "8" + text[flag.value_place.end :]
    assert rewritten == line.format(8)


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("uv run train.py", "uv run train.py"),
        ("python -m scripts.base_train", "python -m scripts.base_train"),
        ("torchrun -m scripts.base_train -- # all", "torchrun -m scripts.base_train --"),
        ("python train.py --a 1 > log", "python train.py --a 1"),
        ("python train.py --a 1; echo", "python train.py --a 1"),
    ],
)
def test_another_flag_can_be_put_behind_the_last_word(text: str, behind: str) -> None:
    end = line_of(text).end
    assert end is not None
    assert text[:end] == behind


def test_the_environment_and_what_is_not_known() -> None:
    line = line_of("TRAIN_SEQ_LEN=2048 NAME=$1 python train.py --b $2 --c $(nproc)")
    variables = {each.name: each for each in line.variables}
    place = variables["TRAIN_SEQ_LEN"].value_place
    assert variables["TRAIN_SEQ_LEN"].value == "2048"
    assert place is not None
    assert place.end - place.start == 4
    assert variables["NAME"].unknown
    assert all(each.unknown and each.value_place is None for each in line.flags)
