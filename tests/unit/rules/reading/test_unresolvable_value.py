from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.diagnostics import Severity
from tests.support.harness import Bench
from tests.support.project_tree import SETTINGS, SETUP, WORLD, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

BENCH = Bench("NL004")


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("import os\nbatch_size = int(os.environ['B'])\nblock_size = 64\n", "batch_size = int(os"),
        ("import time\nbatch_size = 4\nn_layer = int(time.time())\n", "n_layer = int(time"),
        ("import random\nbatch_size = 4\ndropout = random.random()\n", "dropout = random"),
    ],
)
def test_reported(text: str, marked: str) -> None:
    (found,) = BENCH.marked(text)
    assert found.startswith(marked)


def test_a_dataset_of_characters_points_at_the_dataset() -> None:
    text = "import os\nbatch_size = 4\ndataset = os.environ['DATA']\n"
    assert BENCH.marked(text) == ["dataset = os.environ['DATA']"]


@pytest.mark.parametrize(
    "text",
    [
        "batch_size = 4\nout_dir = str(print())\n",
        "batch_size = 4\nlearning_rate = float(input())\n",
        "n_head = 7\nn_embd = 768\n",  # NL303 says it
        "batch_size = 4\ndtype = 'fp16'\n",  # NL314 says it
        "batch_size = 4\ndevice = 0\n",
    ],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


def test_a_value_from_the_command_line_settles_it() -> None:
    text = "import os\nbatch_size = int(os.environ['B'])\nblock_size = 64\n"
    assert Bench("NL004", overrides={"batch_size": 8}).findings(text) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("batch_size = -4", "memory not checked: batch_size must be at least 1, is -4"),
        ("n_layer = 'x'", "memory not checked: n_layer must be an integer, is 'x'"),
        ("n_head = 0", "memory not checked: n_head must be at least 1, is 0"),
        ("dropout = 10", "memory not checked: dropout must be a number from 0 to 1, is 10"),
    ],
)
def test_a_value_that_no_run_can_have_is_an_error(line: str, message: str) -> None:
    found = BENCH.finding(f"block_size = 64\n{line}\n")
    assert (found.severity, found.message) == (Severity.ERROR, message)
    assert found.notes == (), "the value is known: there is none to give"


def test_an_impossible_value_on_the_command_line_is_an_error_too() -> None:
    found = Bench("NL004", overrides={"batch_size": -1}).finding("batch_size = 4\n")
    assert found.severity is Severity.ERROR
    assert "is -1" in found.message


def test_a_default_that_train_py_may_replace_further_down_is_no_error(tmp_path: Path) -> None:
    script = train_script().replace("batch_size = 12", "batch_size = -1")
    write_project(tmp_path, {"train.py": script})
    inherited = Bench("NL004", path=tmp_path / "config" / "x.py").finding("block_size = 64\n")
    assert inherited.severity is Severity.INFO
    own = Bench("NL004", path=tmp_path / "train.py").finding(script)
    assert own.severity is Severity.WARNING


def test_a_size_beyond_every_gpu_is_legal_and_known() -> None:
    found = BENCH.finding("block_size = 64\nbatch_size = 10**7\n")
    assert (found.severity, found.notes) == (Severity.INFO, ())


def without(key: str) -> str:
    """The settings of a train.py that has no such key."""
    lines = SETTINGS.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(f"{key} = "))


LLAMA = """\
batch_size = 128
max_seq_len = 256
dim = 288
n_layers = 6
gradient_accumulation_steps = 4
max_iters = 100000
"""
COMPUTED = "lr_decay_iters = max_iters\nmin_lr = 0.0\n"


def test_a_model_by_other_names_is_not_judged_as_gpt2(tmp_path: Path) -> None:
    """A train.py without n_layer and its like describes another model, as llama2.c's does."""
    script = train_script(settings=LLAMA, world=COMPUTED)
    path = write_project(tmp_path, {"train.py": script}) / "config" / "a.py"
    bench = Bench("NL004", path=path)
    (found,) = bench.findings("batch_size = 512\nmax_iters = 100\n")
    assert found.message == (
        "memory not checked, because of n_head, n_embd, dtype, dropout, block_size, n_layer, "
        "vocab_size, bias, compile, device: no key of this project's train.py"
    )
    assert found.notes[0].startswith("pass the values of the run: --set n_head=VALUE ")
    assert Bench("NL308", path=path).findings("max_iters = 100\ndecay_lr = True\n") == []


def test_a_config_of_another_training_script_is_not_judged_by_train_py(tmp_path: Path) -> None:
    other = train_script(extra_settings="experts = 4\n")
    path = write_project(tmp_path, {"train_moe.py": other}) / "config" / "a.py"
    (found,) = Bench("NL004", path=path).findings("batch_size = 8\nexperts = 8\n")
    assert found.message == (
        "memory not checked, because of experts: only train_moe.py has this key; "
        "pass --train-script train_moe.py"
    )


def test_keys_of_sample_py_leave_memory_judged(tmp_path: Path) -> None:
    path = write_project(tmp_path) / "config" / "a.py"
    assert Bench("NL004", path=path).findings("batch_size = 8\nnum_samples = 3\n") == []


def test_a_key_that_train_py_looks_for_is_its_own(tmp_path: Path) -> None:
    own = train_script(setup=SETUP + "experts = globals().get('experts', 1)\n")
    files: dict[str, str | bytes] = {
        "train.py": own,
        "train_moe.py": train_script(extra_settings="experts = 4\n"),
    }
    path = write_project(tmp_path, files) / "config" / "a.py"
    assert Bench("NL004", path=path).findings("batch_size = 8\nexperts = 8\n") == []


def test_a_key_that_sample_py_has_too_does_not_tell_the_training_script(tmp_path: Path) -> None:
    other = train_script(extra_settings="num_samples = 4\n")
    path = write_project(tmp_path, {"train_moe.py": other}) / "config" / "a.py"
    assert Bench("NL004", path=path).findings("batch_size = 8\nnum_samples = 3\n") == []


@pytest.mark.parametrize(
    ("line", "is_known"),
    [
        ("dtype = 'bfloat16'", True),
        ("dtype = 'bfloat16' if torch.cuda.is_bf16_supported() else 'float16'", True),
        ("dtype = args.dtype", False),
        ("dtype = other_dtype if max_iters > 5 else 'float16'", False),
    ],
)
def test_what_train_py_sets_below_the_configurator_counts_where_it_is_plain(
    tmp_path: Path, line: str, is_known: bool
) -> None:
    script = train_script(settings=without("dtype"), world=f"{line}\n{WORLD}")
    path = write_project(tmp_path, {"train.py": script}) / "config" / "a.py"
    found = Bench("NL004", path=path).findings("batch_size = 8\nblock_size = 64\n")
    assert (found == []) is is_known
