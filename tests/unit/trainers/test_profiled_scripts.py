"""Profiles of scripts that are their own config: what is traced, and what is kept of it."""

from __future__ import annotations

import json
import re
import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.cli.profile import Profiler, config_of, profile
from nanolint.cli.streams import Streams
from nanolint.gpus.lookup import find
from nanolint.run.profile import Profile
from nanolint.trace.process import Asked, PretendedCard
from nanolint.trace.traced import Traced, read
from tests.support.command import nanolint
from tests.unit.trace.messages import message
from tests.unit.trace.test_fit import run
from tests.unit.trainers.written_scripts import script

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nanolint.run.profile import Regime

CONSTANTS = """
B = 8
T = 512
TOTAL = 65536
LR = 1e-3
passes = TOTAL // (B * T)
"""
FLAGS = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--device-batch-size", type=int, default=8)
parser.add_argument("--total-batch-size", type=int, default=65536)
args = parser.parse_args()
B, T = args.device_batch_size, 512
passes = args.total_batch_size // (B * T)
"""
COMPUTED = """
import argparse
import math
parser = argparse.ArgumentParser()
parser.add_argument("--depth", type=int, default=2)
parser.add_argument("--device-batch-size", type=int, default=8)
parser.add_argument("--total-batch-size", type=int, default=-1)
args = parser.parse_args()
B, T = args.device_batch_size, 512
total = args.total_batch_size
if total == -1:
    total = 2 ** round(math.log2(args.depth * 32768))
passes = total // (B * T)
"""
CARD = PretendedCard("NVIDIA GeForce RTX 4090", 24 << 30, (8, 9), 128)
GPU = "rtx-4090"
LAUNCHERS = ("python", "torchrun --nproc_per_node=1")


def of_constants(asked: Asked) -> tuple[int, int]:
    """Micro-batch and passes of the script that a trace would run."""
    (text,) = asked.edits.values()
    batch, total = (int(re.findall(rf"(?m)^{key} = (\d+)$", text)[0]) for key in ("B", "TOTAL"))
    return batch, total // (batch * 512)


def of_flags(asked: Asked) -> tuple[int, int]:
    assert not asked.edits
    given = dict(word.removeprefix("--").split("=") for word in asked.argv[1:])
    batch, total = int(given["device-batch-size"]), int(given["total-batch-size"])
    return batch, total // (batch * 512)


def recorded(words: str, values: Callable[[Asked], tuple[int, int]]) -> Profile:
    """A profile, of traces that are made up."""

    def trace(asked: Asked) -> Traced:
        batch, passes = values(asked)
        point = run(batch, passes)
        told = read(message(capability=[8, 9], modules=[], opened=[]))
        changed: dict[str, Any] = {"tape": point.tape, "requests": tuple(point.requests)}
        return Traced(**{**{key: getattr(told, key) for key in told.__slots__}, **changed})

    streams = Streams(sys.stdin, sys.stdout, sys.stderr)
    config = config_of(words, Namespace(isolated=True, config=None), streams)
    argv = words.split()[1:]
    return profile(words, Profiler(config, find(GPU), argv, trace), CARD, 60)[1]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


def judged() -> dict[str, Any]:
    outcome = nanolint("explain", "--gpu", GPU, "--format", "json", "train.py")
    assert outcome.status == 0, outcome.err
    found: dict[str, Any] = json.loads(outcome.out)
    return found


def test_constants_are_changed_in_what_is_run_and_never_in_the_file(folder: Path) -> None:
    text = script(CONSTANTS)
    (folder / "train.py").write_text(text)
    found = recorded("python train.py", of_constants)
    assert (folder / "train.py").read_text() == text
    assert (found.micro_batch, found.accumulation) == ("B", "TOTAL")
    assert set(found.files) == {"train.py"}
    assert found.error_per_mille == 0


def test_another_micro_batch_in_the_file_keeps_the_profile(folder: Path) -> None:
    (folder / "train.py").write_text(script(CONSTANTS))
    recorded("python train.py", of_constants)
    for batch in (8, 2):
        changed = CONSTANTS.replace("B = 8", f"B = {batch}")
        (folder / "train.py").write_text(script(changed))
        found = judged()
        assert found["trust"] == "traced", found["doubts"]
        mask = batch * batch * 1024  # see test_fit.run
        assert found["peak"]["allocated_bytes"] > 4 * batch * 1024 * 64 + mask


SETS = 'import os\nos.environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:True"\n'
ASKS = 'print(os.environ.get("PYTORCH_CUDA_ALLOC_CONF"))\n'


@pytest.mark.parametrize(("more", "trust"), [("", "traced"), (ASKS, "unknown")])
def test_the_allocator_s_variable_is_one_by_both_names(folder: Path, more: str, trust: str) -> None:
    text = SETS + more + script(CONSTANTS)
    (folder / "train.py").write_text(text)
    recorded("python train.py", of_constants)
    assert judged()["trust"] == "traced"
    (folder / "train.py").write_text(text.replace("PYTORCH_ALLOC", "PYTORCH_CUDA_ALLOC"))
    assert judged()["trust"] == trust


@pytest.mark.parametrize(
    ("old", "new"), [("LR = 1e-3", "LR = 2e-3"), ("T = 512", "T = 256"), ("fused=True", "")]
)
def test_any_other_change_makes_it_stale(folder: Path, old: str, new: str) -> None:
    (folder / "train.py").write_text(script(CONSTANTS))
    recorded("python train.py", of_constants)
    changed = script(CONSTANTS).replace(old, new)
    assert changed != script(CONSTANTS)
    (folder / "train.py").write_text(changed)
    assert judged()["trust"] != "traced"
    words = " ".join(nanolint("explain", "--gpu", GPU, "train.py").out.split())
    assert "train.py has changed" in words and "nanolint trace --profile -- python" in words


def test_flags_are_set_on_the_line(folder: Path) -> None:
    (folder / "train.py").write_text(script(FLAGS))
    found = recorded("python train.py", of_flags)
    assert (found.micro_batch, found.accumulation) == ("device_batch_size", "total_batch_size")
    assert judged()["trust"] == "traced"
    (folder / "train.py").write_text(script(FLAGS.replace("default=8)", "default=4)")))
    assert judged()["trust"] == "traced"


def test_a_total_that_the_script_works_out_is_set_by_its_own_flag(folder: Path) -> None:
    """Another depth has another total, too, and another model."""
    (folder / "train.py").write_text(script(COMPUTED))
    found = recorded("python train.py", of_flags)
    assert (found.micro_batch, found.accumulation) == ("device_batch_size", "total_batch_size")


@pytest.mark.parametrize("traced_by", LAUNCHERS)
@pytest.mark.parametrize("run_by", LAUNCHERS)
def test_a_profile_of_one_process_is_of_its_launcher(
    folder: Path, traced_by: str, run_by: str
) -> None:
    """torchrun tells even one process its RANK, and scripts then take another optimizer."""
    (folder / "train.py").write_text(script(CONSTANTS))
    recorded(f"{traced_by} train.py", of_constants)
    line = f"{run_by} train.py"
    outcome = nanolint("explain", "--gpu", GPU, "--format", "json", "--", *line.split())
    trust = json.loads(outcome.out)["trust"]
    assert (trust == "traced") is (traced_by == run_by)
    said = nanolint("explain", "--gpu", GPU, "--", *line.split())
    assert ("RANK" in said.out + said.err) is (traced_by != run_by)


# As llm.c's train_gpt2.py: a later value of the same name says what the flag came to.
SWITCHED = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--device-batch-size", type=int, default=8)
parser.add_argument("--total-batch-size", type=int, default=65536)
parser.add_argument("--dtype", default="bfloat16")
parser.add_argument("--compile", type=int, default=0)
parser.add_argument("--zero_stage", type=int, default=0)
parser.add_argument("--sample_every", type=int, default=0)
parser.add_argument("--fast", action="store_true")
args = parser.parse_args()
zero_stage = args.zero_stage
zero_stage = 0
dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[args.dtype]
B, T = args.device_batch_size, 512
passes = args.total_batch_size // (B * T)
"""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--dtype float32", "dtype is 'float32' and was 'bfloat16'"),
        ("--compile 1", "compile is 1 and was 0"),
        ("--zero_stage 2", "zero_stage is 2 and was not set"),
        ("--fast", "fast is given and was not set"),
        ("--sample_every 20", "sample_every is on and was off"),
    ],
)
def test_any_flag_that_memory_may_follow_makes_it_stale(
    folder: Path, words: str, told: str
) -> None:
    (folder / "train.py").write_text(script(SWITCHED))
    line = "python train.py --dtype=bfloat16 --compile=0"
    recorded(line, of_flags)
    same = nanolint("explain", "--gpu", GPU, "--format", "json", "--", *line.split())
    assert json.loads(same.out)["trust"] == "traced"
    said = nanolint("explain", "--gpu", GPU, "--", *line.split(), *words.split())
    assert told in " ".join((said.out + said.err).split())


def test_what_is_done_no_more_beside_training_is_in_doubt(folder: Path) -> None:
    (folder / "train.py").write_text(script(SWITCHED))
    line = "python train.py --sample_every=20"
    recorded(line, of_flags)
    words = [*line.split(), "--sample_every=-1"]
    found = json.loads(nanolint("explain", "--gpu", GPU, "--format", "json", "--", *words).out)
    assert found["trust"] == "doubted"
    assert "sample_every is off, and was on" in json.dumps(found["doubts"])


@pytest.mark.parametrize("variable", ["TORCHDYNAMO_DISABLE=1", "PYTORCH_NO_CUDA_MEMORY_CACHING=1"])
def test_it_is_of_the_variables_that_pytorch_reads(folder: Path, variable: str) -> None:
    (folder / "train.py").write_text(script(CONSTANTS))
    recorded("python train.py", of_constants)
    said = nanolint("explain", "--gpu", GPU, "--", variable, "python", "train.py")
    name = variable.partition("=")[0]
    assert f"{name} is '1' and was not set" in " ".join((said.out + said.err).split())


def test_a_file_that_was_stood_in_for_is_one_of_its_files(folder: Path) -> None:
    """The trace has imported train.py alone."""
    (folder / "tokens.py").write_text("from vocabulary import SIZE\n")
    (folder / "vocabulary.py").write_text("SIZE = 50304\n")
    (folder / "train.py").write_text("import tokens\n" + script(CONSTANTS))
    found = recorded("python train.py", of_constants)
    assert set(found.files) == {"train.py", "tokens.py", "vocabulary.py"}
    (folder / "vocabulary.py").write_text("SIZE = 100608\n")
    assert judged()["trust"] != "traced"


def test_where_no_smaller_micro_batch_was_traced_that_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "train.py").write_text(script(CONSTANTS))
    recorded("python train.py", of_constants)
    known = Profile.regime

    def regime(self: Profile, batch_size: int, micro_steps: int) -> Regime | None:
        return known(self, batch_size, micro_steps) if batch_size >= 4 else None

    monkeypatch.setattr(Profile, "regime", regime)
    found = nanolint("check", "--gpu", "150MiB", "train.py")
    assert found.status == 1, found.err
    out = " ".join(found.out.split())
    assert "no known micro-batch fits; the smallest card for B = 4 is" in out


def test_it_is_of_the_words_that_are_no_flags(folder: Path) -> None:
    sizes = 'parser.add_argument("size")\nargs = '
    (folder / "train.py").write_text(script(FLAGS.replace("args = ", sizes, 1)))

    def of_words(asked: Asked) -> tuple[int, int]:
        return of_flags(asked._replace(argv=(asked.argv[0], *asked.argv[2:])))

    recorded("python train.py small", of_words)
    trusts = [
        json.loads(nanolint("explain", "--gpu", GPU, "--format", "json", "--", *line.split()).out)[
            "trust"
        ]
        for line in ("python train.py small", "python train.py large")
    ]
    assert trusts[0] == "traced" != trusts[1]
