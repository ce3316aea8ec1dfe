"""accelerate's configuration and DeepSpeed's, as a launch line names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.launches.launchers import Configured, read
from tests.support.command import nanolint
from tests.unit.trainers.written_scripts import MODEL

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = """\
compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
mixed_precision: bf16
num_machines: 2
num_processes: 4  # of all machines
deepspeed_config: {}
"""
SCRIPT = f"""{MODEL}
from accelerate import Accelerator
B, T, total = 8, 512, 2**17
accelerator = Accelerator(gradient_accumulation_steps=4)
world = accelerator.num_processes
model = Net(Config(seq_len=T))
optimizer = torch.optim.AdamW(model.parameters())
model, optimizer = accelerator.prepare(model, optimizer)
for step in range(1000):
    x, y = get_batch(B, T)
    with accelerator.accumulate(model):
        loss = model(x)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
"""
ENGINE = f"""{MODEL}
import argparse, deepspeed
parser = argparse.ArgumentParser()
parser = deepspeed.add_config_arguments(parser)
parser.add_argument("--config", default="ds.json")
args = parser.parse_args()
model = Net(Config())
engine, optimizer, _, _ = deepspeed.initialize(
    model=model, model_parameters=model.parameters(), config=args.config
)
for step in range(1000):
    x, y = get_batch(4, 512)
    loss = engine(x)
    engine.backward(loss)
    engine.step()
"""


def told(*words: str) -> dict[str, str]:
    out = nanolint("explain", "--", *words).out
    lines = (each[2:].partition("  ") for each in out.splitlines() if each[:2] == "  ")
    return {name: (rest.split() or [""])[0] for name, _, rest in lines}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "two.yaml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (CONFIG, Configured(4, "bf16")),
        ("distributed_type: NO\nmixed_precision: no\n", Configured(1, "no")),
        ("distributed_type: 'NO'\nmixed_precision: 'no'\nnum_processes: 1\n", Configured(1, "no")),
        ("num_processes: many\n", Configured()),
        (
            "num_processes: 2\ndeepspeed_config:\n  zero_stage: 2\n",
            Configured(2, None, "deepspeed_config"),
        ),
        ("fp16: true\n", Configured(None, "fp16")),
        ("dynamo_config:\n  dynamo_backend: INDUCTOR\n", Configured(None, None, "dynamo_config")),
        ("- a\n", None),
        ("a: [", None),
    ],
)
def test_what_a_configuration_says(text: str, found: Configured | None) -> None:
    assert read(text) == found


@pytest.mark.usefixtures("folder")
def test_processes_and_precision_are_the_configurations() -> None:
    roles = told("accelerate", "launch", "--config_file", "two.yaml", "train.py")
    assert (roles["world size"], roles["dtype"], roles["accumulation"]) == ("4", "bfloat16", "4")


@pytest.mark.usefixtures("folder")
def test_the_words_of_the_line_count_more() -> None:
    words = ["--config_file=two.yaml", "--num_processes=2", "--mixed_precision", "fp16"]
    roles = told("accelerate", "launch", *words, "train.py")
    assert (roles["world size"], roles["dtype"]) == ("2", "float16")


@pytest.mark.usefixtures("folder")
def test_without_accelerates_launcher_it_is_float32() -> None:
    assert told("python", "train.py")["dtype"] == "float32"


def test_a_configuration_that_was_read_is_not_said_to_be_unread(folder: Path) -> None:
    line = ["accelerate", "launch", "--config_file", "two.yaml", "train.py"]
    assert "two.yaml" not in nanolint("launch", "--", *line).err
    zero = CONFIG.replace("{}", "\n  zero_stage: 2")
    (folder / "two.yaml").write_text(zero, encoding="utf-8")
    assert "two.yaml" in nanolint("launch", "--", *line).err


@pytest.mark.parametrize(
    ("config", "world", "passes"),
    [
        ('{"gradient_accumulation_steps": 4, "train_micro_batch_size_per_gpu": 4}', 1, 4),
        ('{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4}', 1, 16),
        ('{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4}', 8, 2),
        ('{"train_micro_batch_size_per_gpu": 4}', 1, 1),
        ('{"gradient_accumulation_steps": "auto"}', 1, None),
        ('{"gradient_accumulation_steps": 4}', 1, None),
        ("{}", 1, None),
        (None, 1, None),
    ],
)
def test_deepspeed_goes_backward_as_often_as_its_configuration_says(
    folder: Path, config: str | None, world: int, passes: int | None
) -> None:
    (folder / "train.py").write_text(ENGINE, encoding="utf-8")
    if config is not None:
        (folder / "ds.json").write_text(config, encoding="utf-8")
    roles = told("deepspeed", f"--num_gpus={world}", "train.py")
    assert roles["accumulation"] == ("?" if passes is None else str(passes))
    assert (roles["micro-batch"], roles["context"]) == ("4", "512")


@pytest.mark.parametrize(
    ("entry", "dtype"),
    [
        ('"bf16": {"enabled": true}', "bfloat16"),
        ('"fp16": {"enabled": true}', "float16"),
        ('"fp16": {"enabled": false}', "float32"),
        ('"fp16": {"enabled": "auto"}', "?"),
        ('"torch_autocast": {"enabled": true, "dtype": "bf16"}', "bfloat16"),
        ('"torch_autocast": {"enabled": true}', "?"),
        ('"torch_autocast": {"enabled": false}, "bf16": {"enabled": true}', "bfloat16"),
    ],
)
def test_deepspeed_casts_the_model(folder: Path, entry: str, dtype: str) -> None:
    (folder / "train.py").write_text(ENGINE, encoding="utf-8")
    (folder / "ds.json").write_text(f'{{"train_batch_size": 4, {entry}}}', encoding="utf-8")
    assert told("deepspeed", "--num_gpus=1", "train.py")["dtype"] == dtype


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--use_fsdp", "--use_fsdp is not modelled, and changes the memory"),
        ("--dynamo_backend inductor", "--dynamo_backend=inductor is not modelled"),
        ("--dynamo_backend=no --dynamo_use_regional_compilation", ""),
        ("--downcast_bf16 --fp8_use_autocast_during_eval", ""),
    ],
)
def test_what_accelerate_is_told_on_its_line(folder: Path, flags: str, said: str) -> None:
    assert folder.exists()
    line = f"accelerate launch --num_processes=4 {flags} train.py"
    found = nanolint("launch", "--", *line.split())
    assert said in found.err and ("is not modelled" in found.err) is bool(said)
    assert told(*line.split())["micro-batch"] == "8"


def test_the_flags_of_deepspeed_s_launcher_take_what_they_take(folder: Path) -> None:
    assert folder.exists()
    line = "deepspeed --num_gpus=2 --quiet --enable_each_rank_log logs train.py"
    assert told(*line.split())["micro-batch"] == "8"
