"""Launch lines in scripts that other scripts start or read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.launches.launch import Around
from nanolint.launches.script import find_launches
from tests.support.command import nanolint
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path

ONE = 'python train.py config/x.py --batch_size="$1" $2\n'
FILES = {
    "one.sh": ONE,
    "jobs/one.sh": ONE.replace("x.py", "y.py"),
    "env.sh": "BATCH=8\nNPROC=4\nreturn\nBATCH=9\n",
    "loop.sh": "bash loop.sh\n",
}


def words(text: str) -> list[tuple[str, list[str], int | None]]:
    found = find_launches(text, Around(scripts=FILES.get))
    return [
        (str(each.launch.script), [a.text for a in each.launch.arguments], each.row)
        for each in found
        if each.launch
    ]


@pytest.mark.parametrize("line", ["bash one.sh 4", "./one.sh 4", "sh -e ./one.sh 4"])
def test_it_is_followed_with_its_arguments(line: str) -> None:
    text = f"set -e\n{line}\n"
    assert words(text) == [("train.py", ["config/x.py", "--batch_size=4"], 2)]


def test_from_the_folder_that_the_script_is_in_by_then() -> None:
    assert words("cd jobs\nbash one.sh 4")[0][1][0] == "config/y.py"
    assert words("(cd jobs; true)\nbash one.sh 4")[0][1][0] == "config/x.py"
    assert words("cd $WHERE\nbash one.sh 4") == []


def test_the_processes_of_what_starts_it_count() -> None:
    found = find_launches("srun -n 4 bash one.sh 8", Around(scripts=FILES.get))
    (launch,) = (each.launch for each in found)
    assert launch is not None
    assert launch.processes.count == 4


@pytest.mark.parametrize("source", ["source", "."])
def test_what_is_read_into_the_shell_sets_its_variables(source: str) -> None:
    text = f"{source} env.sh\ntorchrun --nproc_per_node=$NPROC train.py --batch_size=$BATCH"
    assert words(text) == [("train.py", ["--batch_size=8"], 2)]


def test_what_is_not_there_is_as_before_and_what_calls_itself_ends() -> None:
    assert words("source gone.sh\nbash gone.sh\npython train.py") == [("train.py", [], 3)]
    assert words("bash loop.sh") == []


def test_on_disk(tmp_path: Path) -> None:
    root = write_project(tmp_path, {"scripts/all.sh": "bash scripts/one.sh 64\n"})
    (root / "config").mkdir()
    (root / "config" / "x.py").write_text("block_size = 1024\ngradient_accumulation_steps = 8\n")
    (root / "scripts" / "one.sh").write_text(ONE.replace(" $2", ""))
    outcome = nanolint("--gpu=rtx-3060-12gb", str(root / "scripts" / "all.sh"))
    assert "does not fit RTX 3060 12GB" in outcome.out
    assert "all.sh:1" in outcome.out
