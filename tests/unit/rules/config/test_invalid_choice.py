from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.rule import Severity
from tests.support.harness import Bench
from tests.support.project_tree import IMPORTS, SETUP, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

BENCH = Bench("NL314")


@pytest.mark.parametrize(
    ("setting", "meant"),
    [
        ("dtype = 'bf16'", "bfloat16"),
        ("dtype = 'half'", "float16"),
        ("dtype = 'bfloat'", "bfloat16"),
        ("dtype = 'torch.float16'", "float16"),
        ("init_from = 'gpt-2-xl'", "gpt2-xl"),
        ("init_from = 'gpt2_medium'", "gpt2-medium"),
        ("init_from = 'Scratch'", "scratch"),
        ("device = 'gpu'", "cuda"),
        ("device = 'CUDA'", "cuda"),
        ("backend = 'ncll'", "nccl"),
    ],
)
def test_did_you_mean(setting: str, meant: str) -> None:
    text = f"{setting}\nbatch_size = 4\n"
    assert BENCH.finding(text).message.endswith(f"; did you mean {meant!r}?")
    assert BENCH.marked(text) == [setting]


def test_no_guess_without_a_likeness() -> None:
    message = BENCH.finding("dtype = 16\nbatch_size = 4\n").message
    assert message == "dtype = 16 is not one of 'float32', 'bfloat16', 'float16'"


def test_a_backend_matters_only_to_several_processes() -> None:
    text = "backend = 'ncll'\nbatch_size = 4\n"
    assert BENCH.finding(text).severity is Severity.WARNING
    assert Bench("NL314", world_size=8).finding(text).severity is Severity.ERROR


@pytest.mark.parametrize(
    "text",
    [
        "dtype = 'float16'\nbatch_size = 4\n",
        "device = 'cuda:7'\nbatch_size = 4\n",
        "device = 'xpu'\nbatch_size = 4\n",
        "init_from = 'resume'\nbatch_size = 4\n",
        "backend = 'NCCL'\nbatch_size = 4\n",
        "batch_size = 4\n",
    ],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


def test_a_slip_of_the_pen_is_told_to_a_fork_too(tmp_path: Path) -> None:
    zoo = "elif init_from in zoo.NAMES:\n    model = zoo.load(init_from)\n"
    setup = SETUP.replace("if block_size <", f"{zoo}if block_size <", 1)
    files = {"train.py": train_script(imports=f"{IMPORTS}import zoo\n", setup=setup)}
    path = write_project(tmp_path, files) / "config" / "a.py"
    bench = Bench("NL314", path=path)
    assert bench.findings("init_from = 'gemma'\nbatch_size = 4\n") == []
    found = bench.finding("init_from = 'gpt2_medium'\nbatch_size = 4\n")
    assert found.severity is Severity.WARNING


def test_silent_where_the_last_branch_of_train_py_takes_any_text(tmp_path: Path) -> None:
    chain = (
        "if init_from == 'scratch':\n    a = 1\nelif init_from in ('resume', 'again'):\n    a = 2\n"
    )
    text = "init_from = 'gpt2_medium'\nbatch_size = 4\n"
    for last, count in (("else:\n    load(init_from)\n", 0), ("else:\n    raise E\n", 1), ("", 1)):
        script = train_script() + chain + last
        path = write_project(tmp_path, {"train.py": script}) / "config" / "a.py"
        assert len(Bench("NL314", path=path).findings(text)) == count
        unknown = Bench("NL004", path=path).findings(text)
        keys = [each for each in unknown if "because of init_from" in each.message]
        assert len(keys) == 1 - count, "memory is not checked, and that is said"
