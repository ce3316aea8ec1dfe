"""A run that nobody knows by reading, judged by its recorded profile; and when it no longer is."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.gpus.lookup import find
from nanolint.profiles.profiles import weights
from nanolint.run.profile import Profile
from nanolint.run.profile_file import digest, read, write
from nanolint.run.settled import Options
from nanolint.trace.fit import fit
from nanolint.trainers.nanogpt.config import read_config
from nanolint.trainers.nanogpt.project import find_project
from tests.support.command import nanolint
from tests.support.own_scripts import steps
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20
# Nobody can say what it allocates.
MODEL = "from mystery import GPTConfig, Mystery\n\n\nclass GPT(Mystery):\n    pass\n"
CONFIG = "batch_size = 32\ngradient_accumulation_steps = 4\ncompile = False\n"
GPU = "rtx-4070"  # 11.7 GiB
FREE = {"batch_size", "gradient_accumulation_steps"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_project(tmp_path, {"config/a.py": CONFIG, "model.py": MODEL})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def profile(root: Path) -> Profile:
    path = root / "config/a.py"
    found = find_project(path)
    config = read_config(CONFIG, path, found, Options(), explicit=True)
    settings = config.resolved(find(GPU)).settings
    fitted = fit(partial(steps, file="model.py"), {4: (1, 32, 128), 1: (128,), 2: (64,)})
    made = Profile(
        traced="2026-11-20", command="python train.py config/a.py", torch="2.13.0+cu130",
        capability=(8, 9), sm_count=46, world_size=1, ranked=False, script="train.py",
        files={name: digest((root / name).read_bytes()) for name in ("train.py", "model.py")},
        settings=weights(settings, FREE, Options()), micro_batch="batch_size",
        accumulation="gradient_accumulation_steps", error_per_mille=0, held_out=(),
        kinds=fitted.kinds, regimes=fitted.regimes,
    )  # fmt: skip
    put(root, made)
    return made


def put(root: Path, profile: Profile) -> None:
    (root / ".nanolint").mkdir(exist_ok=True)
    (root / ".nanolint/a.json").write_bytes(write(profile))


def explained(*options: str, gpu: str = GPU, config: str = "config/a.py") -> dict[str, Any]:
    outcome = nanolint("explain", "--gpu", gpu, "--format", "json", *options, config)
    assert outcome.status == 0, outcome.err
    found: dict[str, Any] = json.loads(outcome.out)
    return found


@pytest.mark.usefixtures("root")
def test_without_a_profile_there_is_no_number() -> None:
    assert explained()["trust"] == "unknown"


def test_a_profile_of_a_long_launch_line_is_read_again(root: Path, profile: Profile) -> None:
    put(root, replace(profile, command=f"{profile.command} {'--a_flag=1 ' * 60}"))
    assert explained()["trust"] == "traced"


def test_what_a_stand_in_decided_is_in_doubt(root: Path, profile: Profile) -> None:
    put(root, replace(profile, assumes=("FlashAttention 3 is taken to be installed",)))
    found = explained()
    assert found["trust"] == "doubted"
    assert "FlashAttention 3 is taken to be installed" in json.dumps(found["doubts"])


@pytest.mark.usefixtures("profile")
def test_with_one_it_is_traced_and_the_bytes_are_those_of_the_trace() -> None:
    found = explained()
    assert (found["trust"], found["doubts"], found["torch"]) == ("traced", [], "2.13")
    assert found["peak"]["allocated_bytes"] == 500 * MIB + 32 * 450 * MIB
    assert found["components"]["activations"] == 32 * 450 * MIB


@pytest.mark.usefixtures("profile")
def test_the_text_says_from_which_day_it_is() -> None:
    told = "traced 2026-11-20 with torch 2.13.0"
    assert told in nanolint("explain", "--gpu", GPU, "config/a.py").out
    assert told in nanolint("--gpu", GPU, "config/a.py").out


@pytest.mark.usefixtures("profile")
def test_what_does_not_fit_is_an_error_and_its_fix_is_safe(root: Path) -> None:
    checked = nanolint("--gpu", GPU, "config/a.py")
    assert checked.status == 1 and "error[NL101]" in checked.out
    fixed = nanolint("--fix", "--gpu", GPU, "config/a.py")
    text = (root / "config/a.py").read_text()
    assert "batch_size = 16\ngradient_accumulation_steps = 8\n" in text, fixed.out
    assert nanolint("--gpu", GPU, "--select", "NL1", "config/a.py").status == 0


@pytest.mark.usefixtures("profile")
def test_fit_finds_the_largest_on_other_cards_of_that_capability() -> None:
    outcome = nanolint("fit", "--gpu", "rtx-4090", "--format", "json", "config/a.py")
    cards = {card["gpu"]: card["fit"] for card in json.loads(outcome.out)["cards"]}
    assert cards["RTX 4090"]["batch_size"] == 32
    assert cards["RTX 4090"]["gradient_accumulation_steps"] == 4


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("model.py", MODEL + "# new\n", "model.py has changed"),
        ("config/a.py", CONFIG + "n_layer = 6\n", "n_layer is 6 and was 12"),
        ("config/a.py", CONFIG + "extra = 3\n", "extra is 3 and was not set"),
    ],
)
@pytest.mark.usefixtures("profile")
def test_a_stale_one_gives_no_number_and_says_what_changed(
    root: Path, name: str, text: str, told: str
) -> None:
    (root / name).write_text(text)
    outcome = nanolint("explain", "--gpu", GPU, "config/a.py")
    words = " ".join((outcome.out + outcome.err).split())
    assert told in words
    assert "nanolint trace --profile -- python train.py config/a.py" in words
    assert "traced 2026" not in words


@pytest.mark.parametrize(
    "line",
    [
        *("learning_rate = 1e-3", "max_iters = 100", "eval_iters = 20", "wandb_log = True"),
        *("seed = 7", "input_bin = 'fineweb_train_*.bin'"),
    ],
)
@pytest.mark.usefixtures("profile")
def test_what_has_no_weight_may_change(root: Path, line: str) -> None:
    (root / "config/a.py").write_text(f"{CONFIG}{line}\n")
    assert explained()["trust"] == "traced"


@pytest.mark.usefixtures("profile")
def test_line_ends_are_no_change(root: Path) -> None:
    (root / "model.py").write_bytes(MODEL.replace("\n", "\r\n").encode())
    assert explained()["trust"] == "traced"


@pytest.mark.usefixtures("profile")
def test_a_micro_batch_that_was_not_traced_is_not_known(root: Path) -> None:
    (root / "config/a.py").write_text(CONFIG.replace("32", "129"))
    outcome = nanolint("explain", "--gpu", GPU, "config/a.py")
    assert "129 is not among those traced with 4 micro-steps: 1 to 128" in " ".join(
        (outcome.out + outcome.err).split()
    )


@pytest.mark.parametrize(
    ("changes", "gpu", "told"),
    [
        ({}, "a100-40gb", "traced for compute capability 8.9"),
        ({"capability": (8, 0)}, GPU, "traced for compute capability 8.0"),
    ],
)
def test_another_card_is_a_doubt(
    root: Path, profile: Profile, changes: dict[str, Any], gpu: str, told: str
) -> None:
    put(root, dataclasses.replace(profile, **changes))
    found = explained(gpu=gpu)
    assert found["trust"] == "doubted"
    assert told in found["doubts"][0]


@pytest.mark.usefixtures("profile")
def test_another_release_is_a_doubt() -> None:
    found = explained("--torch-version", "2.9")
    assert found["trust"] == "doubted" and "torch 2.13.0" in found["doubts"][0]
    assert explained("--torch-version", "2.13")["trust"] == "traced"


def test_of_two_the_one_without_doubts_is_taken(root: Path, profile: Profile) -> None:
    put(root, dataclasses.replace(profile, capability=(8, 0)))
    (root / ".nanolint/b.json").write_bytes(write(profile))
    assert explained()["trust"] == "traced"


def test_the_margin_is_the_error_that_was_held_out(root: Path, profile: Profile) -> None:
    (root / "config/a.py").write_text(CONFIG.replace("32", "23"))  # 10.6 of 11.7 GiB
    assert "NL10" not in nanolint("--gpu", GPU, "config/a.py").out
    put(root, dataclasses.replace(profile, error_per_mille=100))
    assert "NL103" in nanolint("--gpu", GPU, "config/a.py").out


@pytest.mark.usefixtures("profile")
def test_a_file_that_is_no_profile_is_passed_over(root: Path) -> None:
    (root / ".nanolint/0.json").write_text("{}")
    (root / ".nanolint/1.json").write_bytes(b"\xff" * 100)
    assert explained()["trust"] == "traced"


def test_a_profile_of_another_project_says_nothing(root: Path, profile: Profile) -> None:
    content = json.loads(write(profile))
    content["script"] = "other.py"
    content["files"]["other.py"] = "00"
    (root / ".nanolint/a.json").write_text(json.dumps(content))
    assert read((root / ".nanolint/a.json").read_bytes()).script == "other.py"
    outcome = nanolint("explain", "--gpu", GPU, "config/a.py")
    assert "other.py" not in outcome.out + outcome.err


def test_one_that_comes_with_nanolint_is_taken_for_the_very_files_and_never_stale(
    root: Path, profile: Profile, tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    shipped = tmp_path_factory.mktemp("recorded")
    (root / ".nanolint/a.json").rename(shipped / "popular.json")
    assert explained()["trust"] == "unknown"
    monkeypatch.setattr("nanolint.profiles.profiles.SHIPPED", shipped)
    assert explained()["trust"] == "traced"
    (root / "model.py").write_text(MODEL + "# a fork\n")
    assert explained()["trust"] == "unknown"
    assert "stale" not in nanolint("explain", "--gpu", GPU, "config/a.py").out
    assert profile.regimes
