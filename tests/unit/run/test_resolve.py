"""Every key gets its value from the layer that train.py would take it from."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

from nanolint.run.run import Attention, Dialect, NanoGptSizes
from nanolint.run.settled import Layer, Options, Resolution
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.project import find_project
from nanolint.trainers.nanogpt.resolve import resolve
from tests.support.project_tree import SETTINGS, SETUP, train_script, write_project
from tests.unit.run.settling import reasons, resolution_of, settle, target

if TYPE_CHECKING:
    from pathlib import Path


def test_defaults_alone_are_a_run(tmp_path: Path) -> None:
    run = settle(tmp_path).run
    assert run is not None
    assert (run.batch_size, run.gradient_accumulation_steps, run.world_size) == (12, 40, 1)
    assert run.sizes == NanoGptSizes(12, 12, 768, dropout=0.0, bias=False, init_from="scratch")
    assert (run.block_size, run.vocab_size) == (1024, 50304)
    assert (run.dtype, run.compile) == ("bfloat16", True)
    assert run.parameters_reported == 123_587_328
    assert run.tokens_per_iter == 491_520
    assert run.attention is Attention.FLASH


def test_without_a_module_the_train_script_decides(tmp_path: Path) -> None:
    project = find_project(write_project(tmp_path) / "a.py")
    found = resolve(None, project, Options(), None)
    assert found.known("batch_size") == 12
    assert found.settings["batch_size"].origin.layer is Layer.TRAIN_SCRIPT
    assert found.settings["batch_size"].origin.path == tmp_path / "train.py"


def test_the_layers_in_order(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "train.py": train_script(settings=SETTINGS.replace("n_embd = 768", "n_embd = 384"))
    }
    text = "batch_size = 1\nbatch_size = 2\nblock_size = 512\ndropout = 0.1\n"
    found = settle(tmp_path, text, "--dropout=0.2", "dropout=0.3", files=files)
    settings = found.settings
    assert {key: found.known(key) for key in ("n_embd", "batch_size", "block_size", "dropout")} == {
        "n_embd": 384,
        "batch_size": 2,
        "block_size": 512,
        "dropout": 0.3,
    }
    assert settings["n_embd"].origin.layer is Layer.TRAIN_SCRIPT
    assert settings["dropout"].origin.layer is Layer.OVERRIDE
    origin = settings["batch_size"].origin
    assert origin.layer is Layer.FILE
    assert origin.path == tmp_path / "config/a.py"
    assert origin.span is not None
    assert text[origin.span.start : origin.span.end] == "2"


def test_a_config_without_a_project_is_nanogpts(tmp_path: Path) -> None:
    found = settle(tmp_path, "batch_size = 3\n", bare=True)
    assert found.run is not None
    assert found.run.batch_size == 3
    assert found.settings["n_layer"].origin.layer is Layer.DEFAULT


def test_an_unknown_key_of_the_file_is_a_setting_too(tmp_path: Path) -> None:
    assert settle(tmp_path, "n_experts = 3\n").known("n_experts") == 3


def test_known_raises_for_what_is_not(tmp_path: Path) -> None:
    found = settle(tmp_path, "import time\nwandb_run_name = str(time.time())\n")
    assert found.run is not None  # a run name holds no memory
    with pytest.raises(KeyError):
        found.known("wandb_run_name")
    with pytest.raises(KeyError):
        found.known("no_such_key")


def test_values_of_the_train_script_may_be_read(tmp_path: Path) -> None:
    assert settle(tmp_path, "max_iters = batch_size * 2\n").known("max_iters") == 24


def test_a_key_written_at_run_time_is_unknown(tmp_path: Path) -> None:
    found = settle(tmp_path, "import os\nbatch_size = 4\nif os.name:\n    batch_size = 8\n")
    assert reasons(found).keys() == {"batch_size"}
    assert found.settings["batch_size"].origin.layer is Layer.FILE


def test_an_override_settles_what_the_file_leaves_open(tmp_path: Path) -> None:
    text = "import os\nif os.name:\n    batch_size = 8\n"
    run = settle(tmp_path, text, "batch_size=6").run
    assert run is not None
    assert run.batch_size == 6


def test_anything_written_at_run_time_makes_everything_unknown(tmp_path: Path) -> None:
    found = settle(tmp_path, "batch_size = 4\nfrom config.nowhere import *\n")
    assert {"batch_size", "n_layer", "dtype", "vocab_size"} <= reasons(found).keys()


# ---- the train script itself -------------------------------------------------------------------


def test_a_train_script_is_judged_by_its_settings_only(tmp_path: Path) -> None:
    text = train_script(settings=SETTINGS.replace("batch_size = 12", "batch_size = 5"))
    write_project(tmp_path, {"train.py": text})
    found = settle(tmp_path, text, name="train.py", files={"train.py": text}, world_size=8)
    run = found.run
    assert run is not None
    assert (run.batch_size, run.gradient_accumulation_steps, run.device) == (5, 40, "cuda")
    origin = found.settings["batch_size"].origin
    assert origin.layer is Layer.FILE
    assert origin.span is not None
    assert text[origin.span.start : origin.span.end] == "5"


# ---- worlds and dialects -----------------------------------------------------------------------


def test_the_world_size_is_asked_for_then_the_targets_then_one(tmp_path: Path) -> None:
    for world_size, count, expected in ((2, 8, 2), (None, 8, 8), (None, None, 1)):
        run = settle(tmp_path, on=target(8, 0, count=count), world_size=world_size).run
        assert run is not None
        assert run.world_size == expected
        assert run.micro_steps == 40 // expected
        assert run.effective_batch_size == 480


def test_an_accumulation_that_does_not_divide_is_rounded_down(tmp_path: Path) -> None:
    run = settle(tmp_path, "gradient_accumulation_steps = 7\n", world_size=2).run
    assert run is not None
    assert (run.micro_steps, run.effective_batch_size) == (3, 84)
    run = settle(tmp_path, "gradient_accumulation_steps = 1\n", world_size=8).run
    assert run is not None
    assert (run.micro_steps, run.effective_batch_size) == (1, 12)


def test_in_the_old_dialect_every_gpu_accumulates(tmp_path: Path) -> None:
    run = settle(tmp_path, world_size=4, files={"train.py": train_script(world="")}).run
    assert run is not None
    assert run.sizes.dialect is Dialect.PER_GPU
    assert (run.micro_steps, run.effective_batch_size) == (40, 12 * 40 * 4)


# ---- the vocabulary ----------------------------------------------------------------------------


def vocabulary(found: Resolution) -> object:
    value = found.settings["vocab_size"].value
    return value.value if isinstance(value, Known) else value.reason


CHARACTERS = b"url = 'https://host/tinyshakespeare/input.txt'\nletters = sorted(set(data))\n"
PREPARE = b"pickle.dump(meta, open(os.path.join(here, 'meta.pkl'), 'wb'))\n"


@pytest.mark.parametrize(
    ("dataset", "files", "expected"),
    [
        ("openwebtext", {}, 50304),
        ("openwebtext", {"data/openwebtext/prepare.py": b"ids.tofile('x')\n"}, 50304),
        ("shakespeare_char", {}, 65),
        ("shakespeare_char", {"data/shakespeare_char/prepare.py": CHARACTERS}, 65),
        (
            "shakespeare_char",
            {
                "data/shakespeare_char/prepare.py": CHARACTERS,
                "data/shakespeare_char/input.txt": "größe und maß\n",
            },
            12,
        ),
        ("poems", {"data/poems/meta.pkl": pickle.dumps({"vocab_size": 91})}, 91),
        (
            "shakespeare_char",
            {"data/shakespeare_char/meta.pkl": pickle.dumps({"vocab_size": 66})},
            66,
        ),
        ("../..", {}, 50304),
        ("a\\0b", {}, 50304),
        ("x" * 5000, {}, 50304),
    ],
)
def test_the_vocabulary_is_the_datasets(
    tmp_path: Path, dataset: str, files: dict[str, str | bytes], expected: int
) -> None:
    assert vocabulary(settle(tmp_path, f"dataset = '{dataset}'\n", files=files)) == expected


def test_a_vocabulary_that_only_a_run_of_prepare_tells(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"data/poems/prepare.py": PREPARE}
    found = settle(tmp_path, "dataset = 'poems'\n", files=files)
    assert "prepare.py" in reasons(found)["vocab_size"]
    assert found.settings["vocab_size"].origin.layer is Layer.DATASET
    files = {"data/shakespeare_char/prepare.py": PREPARE}  # not nanoGPT's
    found = settle(tmp_path, "dataset = 'shakespeare_char'\n", files=files)
    assert "prepare.py" in reasons(found)["vocab_size"]
    files = {"data/songs/loader.py": PREPARE}  # whatever it is called
    found = settle(tmp_path, "dataset = 'songs'\n", files=files)
    assert "loader.py" in reasons(found)["vocab_size"]
    files = {"data/poems/prepare.py": PREPARE}
    found = settle(tmp_path, "dataset = 'poems'\n", "vocab_size=91", files=files)
    assert vocabulary(found) == 91
    assert found.settings["vocab_size"].origin.layer is Layer.OVERRIDE


def test_a_meta_pickle_that_tells_nothing(tmp_path: Path) -> None:
    found = settle(tmp_path, "dataset = 'poems'\n", files={"data/poems/meta.pkl": b"junk"})
    assert "vocab_size" in reasons(found)


def test_an_unknown_dataset_has_an_unknown_vocabulary(tmp_path: Path) -> None:
    assert "dataset" in reasons(settle(tmp_path, "dataset = choose()\n"))["vocab_size"]
    assert "vocab_size" in reasons(settle(tmp_path, "dataset = 3\n"))


def test_a_fork_may_have_a_key_for_it(tmp_path: Path) -> None:
    setup = SETUP.replace("50304 if letters is None else letters", "vocab_size or 50304")
    files: dict[str, str | bytes] = {
        "train.py": train_script(extra_settings="vocab_size = 32000\n", setup=setup)
    }
    assert vocabulary(settle(tmp_path, files=files)) == 32000
    assert vocabulary(settle(tmp_path, "vocab_size = 100\n", files=files)) == 100
    files = {"train.py": train_script(extra_settings="vocab_size = None\n", setup=setup)}
    assert vocabulary(settle(tmp_path, files=files)) == 50304


def test_a_key_that_the_script_does_not_pass_on_decides_nothing(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "train.py": train_script(extra_settings="vocab_size = 8192\n"),
        "data/poems/meta.pkl": pickle.dumps({"vocab_size": 65}),
    }
    assert vocabulary(settle(tmp_path, "dataset = 'poems'\n", files=files)) == 65


def test_nanogpt_itself_has_none(tmp_path: Path) -> None:
    assert vocabulary(settle(tmp_path, "vocab_size = 100\n")) == 50304


# ---- where the weights come from ---------------------------------------------------------------


def test_a_pretrained_checkpoint_forces_the_model(tmp_path: Path) -> None:
    text = "init_from = 'gpt2-xl'\nn_layer = 3\nbias = False\nblock_size = 512\ndropout = 0.1\n"
    found = settle(tmp_path, text, "vocab_size=65")
    run = found.run
    assert run is not None
    assert run.sizes == NanoGptSizes(48, 25, 1600, dropout=0.1, bias=True, init_from="gpt2-xl")
    assert (run.vocab_size, run.block_size) == (50257, 512)
    assert found.settings["n_layer"].origin.layer is Layer.CHECKPOINT


def test_a_checkpoint_makes_an_unknown_dataset_known(tmp_path: Path) -> None:
    assert settle(tmp_path, "init_from = 'gpt2'\ndataset = choose()\n").run is not None


def test_a_checkpoint_for_a_model_that_the_script_makes_otherwise(tmp_path: Path) -> None:
    settings = SETTINGS.replace("dropout = 0.0\n", "")
    setup = "model = GPT(GPTConfig(n_layer=2))\n" + SETUP[SETUP.index("model.to(device)") :]
    files: dict[str, str | bytes] = {"train.py": train_script(settings=settings, setup=setup)}
    found = resolution_of(tmp_path, "init_from = 'gpt2'\n", files=files)
    assert "train.py passes none to its model" in reasons(found)["dropout"]


def test_resume_keeps_the_files_values(tmp_path: Path) -> None:
    run = settle(tmp_path, "init_from = 'resume'\nn_layer = 3\n").run
    assert run is not None
    assert (run.sizes.init_from, run.sizes.n_layer) == ("resume", 3)


# ---- what the card decides ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("capability", "torch_version", "dtype", "attention"),
    [
        ((8, 6), None, "bfloat16", Attention.FLASH),
        ((7, 5), (2, 0), "float16", Attention.EFFICIENT),
        ((7, 5), None, "float16", Attention.EFFICIENT),  # NL203: counted in what it should be
    ],
)
def test_the_default_dtype_and_the_kernel(
    tmp_path: Path,
    capability: tuple[int, int],
    torch_version: tuple[int, int] | None,
    dtype: str,
    attention: Attention,
) -> None:
    found = settle(tmp_path, on=target(*capability), torch_version=torch_version)
    assert found.run is not None
    assert (found.run.dtype, found.run.attention) == (dtype, attention)
    assert found.settings["dtype"].origin.layer is Layer.GPU


def test_a_dtype_that_is_set_stays(tmp_path: Path) -> None:
    found = settle(tmp_path, "dtype = 'float32'\n", on=target(8, 0))
    assert found.run is not None
    assert (found.run.dtype, found.run.attention) == ("float32", Attention.EFFICIENT)


def test_a_conditional_device_is_the_gpu(tmp_path: Path) -> None:
    text = "import torch\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
    run = settle(tmp_path, text).run
    assert run is not None
    assert run.device == "cuda"
