"""Training scripts that are not nanoGPT's, from the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.support.project_tree import CONFIGURATOR
from tests.support.repository import ROOT
from tests.unit.trainers.written_scripts import script

if TYPE_CHECKING:
    from pathlib import Path

ARGPARSE = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--total", type=int, default=2**15)
args = parser.parse_args()
B, T, total = args.batch_size, 512, args.total
assert total % (B * T) == 0
passes = total // (B * T)
"""

ARITHMETIC = """
B, T, total = 8, 512, 2**15
assert total % (B * T) == 0
passes = total // (B * T)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(script(ARGPARSE), encoding="utf-8")
    return path


def test_a_script_of_another_kind_holds_a_run_without_a_number(file: Path) -> None:
    found = nanolint("check", str(file), "--gpu", "rtx-4090")
    assert found.status == 0
    assert "1 run not checked" in found.out + found.err
    assert "'Net' object is not callable" in found.out + found.err


def test_why_it_was_not_checked_stands_beside_other_findings(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    with_another = f"{text}\nscaler = torch.cuda.amp.GradScaler()\n"
    file.write_text(with_another, encoding="utf-8")
    out = nanolint("check", str(file), "--gpu", "rtx-4090").out
    assert "Found 1" in out
    assert out.count("'Net' object is not callable") == 1


def test_what_was_not_checked_is_not_said_to_be_clean(file: Path) -> None:
    out = nanolint("check", str(file), "--gpu", "rtx-4090", "--select=NL1").out
    assert "No findings" not in out
    assert "1 run not checked." in out


def test_a_program_beside_a_trainer_is_not_said_to_lack_a_configurator(file: Path) -> None:
    tool = file.with_name("tool.py")
    tool.write_text("import json\nprint(json)\n", encoding="utf-8")
    assert nanolint("check", str(tool), "--gpu", "rtx-4090").err == ""


def test_explain_tells_each_role_and_how_it_came_about(file: Path) -> None:
    out = nanolint("explain", str(file)).out
    lines = {each[2:].partition("  ")[0]: each for each in out.splitlines() if each[:2] == "  "}
    assert lines["micro-batch"].split() == ["micro-batch", "8", "--batch-size,", "line", "44"]
    assert "--total // (--batch-size * T)" in lines["accumulation"]
    assert "64" in lines["a step"]
    assert "32,768 tokens" in lines["a step"]
    assert "--batch-size can be 1, 2, 4, 8, 16, 32 and 64 with as many tokens a step" in out
    assert "nanolint trace" in out


def test_a_value_that_is_put_on_top_counts(file: Path) -> None:
    out = nanolint("explain", str(file), "--set", "batch_size=6").out
    assert "not met: total % (B * T) == 0 (train.py:" in out


def test_a_check_takes_values_put_on_top_by_the_names_that_the_script_has(file: Path) -> None:
    found = nanolint("check", str(file), "--set", "batch_size=6")
    assert (found.status, "NL415" in found.out) == (1, True)
    found = nanolint("check", str(file), "--set", "batchsize=6")
    assert found.status == 2
    assert found.err == f"nanolint: {file}: it sets no batchsize; did you mean --batch-size?\n"


def test_a_value_that_changes_nothing_is_a_doubt(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    file.write_text(f"{text}\nprint(other := step)\n", encoding="utf-8")
    out = nanolint("explain", str(file), "--set", "other=6").out
    assert "other is set, but seems to have no effect" in " ".join(out.split())


def test_a_name_that_stands_in_two_places_is_a_doubt(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    loader = "DataLoader(data, batch_size=64)"
    text = f"""\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

batch_size = {{"batch_size": 4}}["batch_size"]
data = TensorDataset(torch.randn(4096, 1024))
held_out = DataLoader(data, batch_size=batch_size)
model = nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for (x,) in {loader}:
    model(x.cuda()).pow(2).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
    path.write_text(text, encoding="utf-8")
    ask = ("explain", str(path), "--gpu", "rtx-4070", "--set", "batch_size=16")
    assert "--set batch_size changes 2 places, train.py:10 too (train.py:5)" in nanolint(*ask).out
    path.write_text(text.replace(loader, "DataLoader(data, batch_size)"), encoding="utf-8")
    assert "changes 2 places" not in nanolint(*ask).out


def test_a_value_of_another_file_is_shown_where_it_stands(tmp_path: Path) -> None:
    sizes = tmp_path / "sizes.py"
    sizes.write_text("# sizes\nB = 24  # rows\n", encoding="utf-8")
    path = tmp_path / "train.py"
    own = ARITHMETIC.replace("B, T, total = 8,", "from sizes import B\nT, total =")
    path.write_text(script(own), encoding="utf-8")
    out = nanolint("check", str(path)).out
    assert "sizes.py:2:5" in out
    assert "B = 16 is the nearest that divides it (--fix)" in out
    (found,) = json.loads(nanolint("check", str(path), "--output-format=json").out)
    assert found["origin"]["filename"].endswith("sizes.py")
    assert found["origin"]["location"] == {"row": 2, "column": 5}
    line = path.read_text(encoding="utf-8").splitlines()[found["location"]["row"] - 1]
    assert line == "assert total % (B * T) == 0"


def test_a_launch_line_gives_the_flags(file: Path) -> None:
    launch = f"torchrun --nproc_per_node=2 {file} --batch-size 4 --total=8192"
    found = nanolint("launch", "--gpu", "rtx-4090", "--", *launch.split())
    assert found.status == 0
    assert "1 run not checked" in found.out


def test_fit_refuses_a_run_whose_memory_nobody_knows(file: Path) -> None:
    found = nanolint("fit", str(file))
    assert found.status == 2
    assert "'Net' object is not callable" in found.err


def test_json_names_the_script_s_own_keys(file: Path) -> None:
    told = json.loads(nanolint("explain", str(file), "--format", "json").out)
    assert told["trust"] == "unknown"
    assert told["roles"]["micro-batch"] == {
        "key": "batch_size",
        "value": 8,
        "origin": "file",
        "file": str(file),
        "line": 44,
    }
    assert told["roles"]["accumulation"]["key"] is None


def test_a_script_whose_batch_nobody_knows_says_so(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("def f(model, loader):\n    for x in loader:\n        model(x).backward()\n")
    found = nanolint("explain", str(path))
    assert found.status == 2
    assert "trains in a loop of its own" in found.error


LLAMA = """
batch_size, T, gradient_accumulation_steps = 16, 256, 4
max_iters, learning_rate, compile, dtype = 1000, 1e-3, True, "bfloat16"
exec(open("configurator.py").read())
"""


def test_a_configurator_with_sizes_of_other_names_is_followed(tmp_path: Path) -> None:
    """llama2.c has nanoGPT's configurator and loop, and a model whose sizes it calls otherwise."""
    path = tmp_path / "train.py"
    text = script(LLAMA, B="batch_size", passes="gradient_accumulation_steps")
    path.write_text(text, encoding="utf-8")
    (tmp_path / "configurator.py").write_text(CONFIGURATOR, encoding="utf-8")
    out = nanolint("explain", str(path)).out
    assert "micro-batch               16" in out
    assert "layers                    4" in out
    out = nanolint("explain", str(path), "--", "--batch_size=8").out
    assert "8         batch_size, on the launch line" in out


def test_what_two_runs_of_one_line_share_is_said_once(file: Path) -> None:
    text = file.read_text(encoding="utf-8").replace(
        "args = parser", 'parser.add_argument("--name")\nargs = parser'
    )
    file.write_text(f"{text}\nscaler = torch.cuda.amp.GradScaler()\n", encoding="utf-8")
    shell = file.with_name("run.sh")
    either = 'if [ -z "$NAME" ]; then\n    NAME=dummy\nfi\n'
    shell.write_text(f"{either}python train.py --name=$NAME\n", encoding="utf-8")
    out = nanolint("check", str(shell), "--gpu", "rtx-4090").out
    assert out.count("GradScaler") == nanolint("check", str(file)).out.count("GradScaler")
    assert out.count("'Net' object is not callable") == 1
    assert "1 run not checked" in out
    full = nanolint("check", str(shell), "--gpu", "rtx-4090", "--output-format=json-full").out
    assert len(json.loads(full)["runs"]) == 1


def test_points_of_a_loop_are_runs_of_their_own(file: Path) -> None:
    shell = file.with_name("run.sh")
    shell.write_text("for B in 4 8; do\n  python train.py --batch-size=$B\ndone\n")
    full = nanolint("check", str(shell), "--gpu", "rtx-4090", "--output-format=json-full").out
    assert len(json.loads(full)["runs"]) == 2


@pytest.mark.parametrize("command", ["explain", "fit"])
def test_a_launch_line_can_be_explained(file: Path, command: str) -> None:
    words = ["python", "-m", file.stem, "--batch-size=4"]
    found = nanolint(command, "--gpu", "rtx-4090", "--", *words)
    assert "'Net' object is not callable" in found.out + found.err
    unknown = nanolint(command, "--", "python", "-m", "nothing.here")
    assert unknown.status == 2
    assert unknown.err.count("\n") == 1


def test_a_flag_that_the_script_does_not_have_is_refused(file: Path) -> None:
    for command in ("check", "explain", "fit"):
        found = nanolint(command, "--gpu", "rtx-4090", "--", str(file), "--batchsize=4")
        assert found.status == 2
        assert found.err == f"nanolint: {file}: no flag --batchsize; did you mean --batch-size?\n"


def test_a_value_of_another_type_is_refused(file: Path) -> None:
    found = nanolint("check", "--", str(file), "--batch-size=4.5")
    assert found.status == 2
    assert "--batch-size is not a value of type int: 4.5" in found.err


@pytest.mark.parametrize(
    "adds",
    [
        "args, others = parser.parse_known_args()",
        "import deepspeed\ndeepspeed.add_config_arguments(parser)\nargs = parser.parse_args()",
        "for name in names():\n    parser.add_argument(name)\nargs = parser.parse_args()",
        "if torch.cuda.is_available() and flag():\n    parser.add_argument('--x')\n"
        "args = parser.parse_args()",
    ],
)
def test_a_parser_that_may_take_other_flags_refuses_none(file: Path, adds: str) -> None:
    text = file.read_text(encoding="utf-8").replace("args = parser.parse_args()", adds)
    file.write_text(text, encoding="utf-8")
    assert nanolint("check", "--", str(file), "--nothing=4").err.count("no flag") == 0


def test_the_beginning_of_two_flags_is_refused_and_of_one_is_not(file: Path) -> None:
    text = file.read_text(encoding="utf-8").replace(
        "args = parser", 'parser.add_argument("--batches")\nargs = parser'
    )
    file.write_text(text, encoding="utf-8")
    found = nanolint("check", "--", str(file), "--bat=4")
    assert (found.status, "--bat may be --batch-size and --batches" in found.err) == (2, True)
    assert nanolint("check", "--", str(file), "--tot=4096").status == 0


@pytest.mark.parametrize("words", ["{file} --batch-size=4", "python {file} --batch-size 4"])
def test_a_script_behind_the_dashes_is_read_by_its_own_flags(file: Path, words: str) -> None:
    given = words.format(file=file).split()
    found = nanolint("explain", "--format=json", "--", *given)
    assert json.loads(found.out)["roles"]["micro-batch"]["value"] == 4
    assert "1 run not checked" in nanolint("check", "--gpu", "rtx-4090", "--", *given).out


def test_a_word_that_only_the_run_has_is_a_doubt(file: Path) -> None:
    shell = file.with_name("run.sh")
    shell.write_text("python train.py --batch-size=4 $EXTRA\n", encoding="utf-8")
    found = nanolint("explain", "--gpu", "rtx-4090", str(shell))
    assert "the launch line may have other flags: $EXTRA" in found.out


def test_why_the_batch_of_a_script_is_not_known(file: Path) -> None:
    sizes = 'config = json.load(open(args.total))\nB, T = config["B"], config["T"]\ntotal = 2**15'
    text = file.read_text(encoding="utf-8")
    text = text.replace("B, T, total = args.batch_size, 512, args.total", sizes)
    file.write_text(f"import json\n{text}", encoding="utf-8")
    found = " ".join(nanolint("explain", str(file)).out.split())
    assert "the micro-batch: read from a JSON file that only the run names (train.py:" in found
    assert "the launch line can give" not in found


def test_a_flag_that_would_give_the_batch_is_named(file: Path) -> None:
    """chat_sft takes from a checkpoint what its flags leave out."""
    text = file.read_text(encoding="utf-8").replace("default=8", "default=None")
    inherits = "args = parser.parse_args()\nheld = json.load(open(args.total))\n"
    inherits += 'if args.batch_size is None:\n    args.batch_size = held["rows"]\n'
    text = text.replace("args = parser.parse_args()\n", inherits)
    text = text.replace("512, args.total\n", 'held["T"], 2**15\n')
    file.write_text(f"import json\n{text}", encoding="utf-8")
    found = nanolint("explain", str(file))
    assert "the launch line can give --batch-size\n" in found.out
    out = nanolint("explain", str(file), "--", "--batch-size=4").out
    assert "micro-batch               4 " in out
    assert f"`nanolint trace -- python {file.name} ...` settles it" in out


def test_a_script_that_asks_for_all_that_torchrun_sets_has_its_processes(file: Path) -> None:
    asks = """
import os
def is_ddp():
    for name in ["RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"]:
        if name not in os.environ:
            return False
    return True
world = int(os.environ["WORLD_SIZE"]) if is_ddp() else 1
passes = total // (B * T * world)
"""
    text = file.read_text(encoding="utf-8").replace("passes = total // (B * T)\n", asks)
    file.write_text(text, encoding="utf-8")
    launch = ["torchrun", "--nproc_per_node=4", str(file)]
    out = " ".join(nanolint("explain", "--", *launch).out.split())
    assert f"accumulation {2**15 // (8 * 512 * 4)} " in out


def test_a_doubt_of_a_script_stands_on_its_micro_batch(tmp_path: Path) -> None:
    flags = ROOT / "validation" / "scripts" / "flags.py"
    path = tmp_path / "train.py"
    text = flags.read_text(encoding="utf-8")
    asks = 'import os\nrank = int(os.environ["RANK"])\nargs = parser'
    path.write_text(text.replace("args = parser", asks, 1), encoding="utf-8")
    out = nanolint("check", str(path), "--gpu=rtx-4090", "--select=NL005").out
    row = next(
        at for at, line in enumerate(path.read_text().splitlines(), 1) if "--batch-size" in line
    )
    assert f"train.py:{row}:" in out
