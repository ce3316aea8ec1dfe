"""The project around a config: found, read, and left alone when it is not nanoGPT's."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.files import door
from nanolint.run.run import Dialect
from nanolint.run.trust import Subject
from nanolint.source.values import Known, Unknown
from nanolint.trainers.nanogpt.keys import KEYS
from nanolint.trainers.nanogpt.project import NANOGPT, find_project
from tests.support.project_tree import (
    CONFIGURATOR,
    CONFIGURATOR_LINE,
    SETTINGS,
    WORLD,
    train_script,
    write_project,
)
from tests.unit.run.settling import reasons, settle

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.run.settled import Project


def project(root: Path, files: dict[str, str | bytes] | None = None) -> Project:
    write_project(root, files)
    return find_project(root / "config" / "a.py")


def test_without_a_path_or_a_train_script_it_is_nanogpt(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert find_project(None) is NANOGPT
    assert find_project(tmp_path / "a.py") is NANOGPT
    assert NANOGPT.defaults.keys() == KEYS.keys()


def test_a_train_script_gives_defaults_keys_and_dialect(tmp_path: Path) -> None:
    found = project(tmp_path)
    assert found.root == tmp_path
    assert found.train_script == tmp_path / "train.py"
    assert found.defaults.keys() == KEYS.keys()
    assert found.defaults["gradient_accumulation_steps"] == Known(40)
    assert isinstance(found.defaults["dtype"], Unknown)
    assert found.defaults["dtype"].candidates == ("bfloat16", "float16")
    assert found.dialect is Dialect.TOTAL
    assert found.known_keys == KEYS.keys() | {"start", "num_samples"}
    assert found.doubts == ()
    assert found.problems == ()
    text = (tmp_path / "train.py").read_text()
    assert found.settings_end == text.index(CONFIGURATOR_LINE)


def test_every_default_of_nanogpt_is_as_a_train_script_has_it(tmp_path: Path) -> None:
    for key, value in project(tmp_path).defaults.items():
        default = KEYS[key].default
        assert value == default or (isinstance(value, Unknown) and isinstance(default, Unknown))


def test_the_nearest_train_script_counts(tmp_path: Path) -> None:
    write_project(tmp_path)
    inner = train_script(settings=SETTINGS.replace("batch_size = 12", "batch_size = 3"))
    (tmp_path / "fork").mkdir()
    (tmp_path / "fork" / "train.py").write_text(inner)
    assert find_project(tmp_path / "fork" / "deep" / "a.py").defaults["batch_size"] == Known(3)
    assert find_project(tmp_path / "other" / "a.py").defaults["batch_size"] == Known(12)


def test_a_nearer_one_that_is_not_nanogpts_is_a_doubt(tmp_path: Path) -> None:
    write_project(tmp_path, {"tools/train.py": "print('a steam train')\n"})
    found = find_project(tmp_path / "tools" / "a.py")
    assert found.root == tmp_path
    (doubt,) = found.doubts
    assert doubt.subject is Subject.SCRIPT
    assert "loads no configurator" in doubt.text


@pytest.mark.parametrize(
    "text", ["exec(open('config/other.py').read())\n", CONFIGURATOR + "batch_size = 3\n"]
)
def test_a_configurator_that_makes_another_run_is_a_doubt(tmp_path: Path, text: str) -> None:
    (doubt,) = project(tmp_path, {"configurator.py": text}).doubts
    assert (doubt.subject, doubt.path) == (Subject.SCRIPT, tmp_path / "configurator.py")


def test_a_configurator_that_sets_a_learning_rate_is_none(tmp_path: Path) -> None:
    text = CONFIGURATOR + "learning_rate = 6e-4\n"
    assert project(tmp_path, {"configurator.py": text}).doubts == ()


def without_train(root: Path, files: dict[str, str | bytes]) -> Path:
    write_project(root, files)
    (root / "train.py").unlink()
    door.forget()
    return root


def test_the_only_training_script_is_the_projects_whatever_its_name(tmp_path: Path) -> None:
    root = without_train(tmp_path, {"train_llama.py": train_script()})
    found = find_project(root / "config" / "a.py")
    assert (found.train_script, found.doubts) == (root / "train_llama.py", ())


def test_several_training_scripts_are_a_doubt(tmp_path: Path) -> None:
    root = without_train(tmp_path, {"train_a.py": train_script(), "train_b.py": train_script()})
    found = find_project(root / "config" / "a.py")
    assert found.train_script == root / "train_a.py"
    assert [doubt.text for doubt in found.doubts] == [
        "train_a.py and train_b.py run configs; checked with train_a.py"
    ]
    (root / "train.py").write_text(train_script())
    door.forget()
    found = find_project(root / "config" / "a.py")
    assert found.train_script == root / "train.py"
    assert [doubt.subject for doubt in found.doubts] == [Subject.SCRIPT]


def test_one_of_several_training_scripts_is_itself(tmp_path: Path) -> None:
    write_project(tmp_path, {"train_b.py": train_script()})
    for name in ("train.py", "train_b.py"):
        found = find_project(tmp_path / name)
        assert (found.train_script, found.doubts) == (tmp_path / name, ())


def test_the_comments_of_a_config_tell_which_script_runs_it(tmp_path: Path) -> None:
    said = "# $ torchrun --nproc_per_node=8 train_b.py config/a.py\nbatch_size = 3\n"
    write_project(tmp_path, {"train_b.py": train_script(), "config/a.py": said})
    found = find_project(tmp_path / "config" / "a.py")
    assert (found.train_script, found.doubts) == (tmp_path / "train_b.py", ())


def test_a_script_of_a_package_beside_the_configs(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"src/gpt/cli/train.py": train_script(), "config/a.py": ""}
    root = without_train(tmp_path, files)
    found = find_project(root / "config" / "a.py")
    assert found.train_script == root / "src" / "gpt" / "cli" / "train.py"


@pytest.mark.parametrize("name", ["README.md", "run.sh"])
def test_a_launch_line_tells_which_script_runs_a_config(tmp_path: Path, name: str) -> None:
    line = "torchrun --nproc_per_node=8 \\\n  train_b.py config/a.py --compile=False\n"
    files: dict[str, str | bytes] = {"train_b.py": train_script(), name: f"Then:\n\n{line}"}
    write_project(tmp_path, files)
    found = find_project(tmp_path / "config" / "a.py")
    assert (found.train_script, found.doubts) == (tmp_path / "train_b.py", ())
    assert find_project(tmp_path / "config" / "c.py").doubts


def test_a_script_of_another_name_is_its_own(tmp_path: Path) -> None:
    write_project(tmp_path, {"finetune.py": train_script()})
    found = find_project(tmp_path / "finetune.py")
    assert (found.train_script, found.doubts) == (tmp_path / "finetune.py", ())
    assert find_project(tmp_path / "sample.py").train_script == tmp_path / "train.py"


def test_a_script_in_a_folder_beside_the_configs(tmp_path: Path) -> None:
    root = without_train(tmp_path, {"src/train.py": train_script(), "config/a.py": ""})
    assert find_project(root / "config" / "a.py").train_script == root / "src" / "train.py"


def test_a_config_that_is_called_train_is_no_script(tmp_path: Path) -> None:
    write_project(tmp_path, {"config/train.py": "batch_size = 3\n"})
    found = find_project(tmp_path / "config" / "train.py")
    assert (found.train_script, found.doubts) == (tmp_path / "train.py", ())


def test_a_repository_without_a_script_is_a_doubt(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (doubt,) = find_project(tmp_path / "config" / "a.py").doubts
    assert doubt.subject is Subject.SCRIPT
    assert find_project(tmp_path / "a.py") is NANOGPT


def test_a_configurator_that_no_script_loads_tells_nothing(tmp_path: Path) -> None:
    root = without_train(tmp_path, {})
    found = find_project(root / "config" / "a.py")
    assert found.unusable == "configurator.py: no training script next to it loads it"


def test_the_search_ends_at_the_repository(tmp_path: Path) -> None:
    write_project(tmp_path, {"inner/.git/HEAD": ""})
    assert find_project(tmp_path / "inner" / "a.py") is NANOGPT


def test_a_train_script_that_the_user_names(tmp_path: Path) -> None:
    write_project(tmp_path, {"launch/go.py": train_script(world="")})
    found = find_project(tmp_path / "config" / "a.py", train_script=tmp_path / "launch" / "go.py")
    assert found.root == tmp_path / "launch"
    assert found.dialect is Dialect.PER_GPU


@pytest.mark.parametrize(
    ("world", "dialect"),
    [
        (WORLD, Dialect.TOTAL),
        ("gradient_accumulation_steps = gradient_accumulation_steps // world\n", Dialect.TOTAL),
        ("gradient_accumulation_steps = int(gradient_accumulation_steps / n)\n", Dialect.TOTAL),
        ("gradient_accumulation_steps *= 2\n", Dialect.PER_GPU),
        ("tokens = batch_size * gradient_accumulation_steps // 2\n", Dialect.PER_GPU),
        ("", Dialect.PER_GPU),
    ],
)
def test_the_dialect_is_whether_accumulation_is_divided(
    tmp_path: Path, world: str, dialect: Dialect
) -> None:
    assert project(tmp_path, {"train.py": train_script(world=world)}).dialect is dialect


@pytest.mark.parametrize(
    ("call", "mode"),
    [
        ("torch.compile(model)", None),
        ("torch.compile(model, mode='default')", None),
        ("torch.compile(model, mode='max-autotune')", "max-autotune"),
        ("torch.compile(model, mode=wandb_project)", "owt"),
        ("torch.compile(model, mode=pick())", "pick()"),
        ("model.compile(mode='reduce-overhead')", "reduce-overhead"),
    ],
)
def test_the_compile_mode(tmp_path: Path, call: str, mode: str | None) -> None:
    script = train_script(setup=f"optimizer = model.configure_optimizers(0)\nmodel = {call}\n")
    assert project(tmp_path, {"train.py": script}).compile_mode == mode


def test_the_configurator_line_may_look_otherwise(tmp_path: Path) -> None:
    for line in (
        "from configurator import *\n",
        "import configurator\n",
        "with open('configurator.py') as file:\n    exec(file.read())\n",
        "seed = 7; exec(open('ü.py').read())\n",
    ):
        text = train_script().replace(CONFIGURATOR_LINE, line)
        found = project(tmp_path, {"train.py": text.encode(), "ü.py": CONFIGURATOR})
        assert found.problems == ()
        assert found.settings_end is not None
        assert text[found.settings_end :].startswith(line.removeprefix("seed = 7; "))


def test_a_configurator_may_be_opened_above_its_line(tmp_path: Path) -> None:
    line = "path = 'configurator.py'\ncode = open(path).read()\nexec(code)\n"
    text = train_script().replace(CONFIGURATOR_LINE, line)
    found = project(tmp_path, {"train.py": text.encode()})
    assert (found.problems, found.settings_end) == ((), text.index("exec(code)"))


@pytest.mark.parametrize(
    "line",
    [
        "exec('batch_size = 2')\n",
        "exec(input())\n",
        "exec(open('config/a.py').read())\n",
        "exec(open('elsewhere.py').read())\n",
        "code = input()\nexec(code)\n",
    ],
)
def test_what_else_exec_runs_is_no_configurator(tmp_path: Path, line: str) -> None:
    text = train_script().replace(CONFIGURATOR_LINE, line)
    found = project(tmp_path, {"train.py": text.encode(), "config/a.py": b"batch_size = 2\n"})
    assert "it loads no configurator" in (found.unusable or "")


@pytest.mark.parametrize("line", ["exec('batch_size = 2')\n", "exec(input())\n"])
def test_above_the_configurator_it_may_set_any_default(tmp_path: Path, line: str) -> None:
    text = train_script().replace(CONFIGURATOR_LINE, f"{line}{CONFIGURATOR_LINE}")
    found = project(tmp_path, {"train.py": text.encode()})
    assert found.unusable is None
    assert isinstance(found.defaults["batch_size"], Unknown)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_configurator_line_with_any_newline(tmp_path: Path, newline: str) -> None:
    text = train_script(extra_settings="note = 'a\u2028b'\n").replace("\n", newline)
    found = project(tmp_path, {"train.py": text.encode()})
    assert found.settings_end == text.index("exec(")


def test_keys_of_the_forks_own(tmp_path: Path) -> None:
    extra = "n_kv_head: int = 4\nbetas = (0.9, 0.95)\n_private = 1\nconfig_keys = [k for k in ()]\n"
    found = project(tmp_path, {"train.py": train_script(extra_settings=extra)})
    assert found.known_keys - KEYS.keys() == {"n_kv_head", "betas", "start", "num_samples"}
    assert found.defaults["n_kv_head"] == Known(4)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"print('hello')\n", "loads no configurator"),
        (b"exec(open('configurator.py').read())\n", "none of its keys"),
        (b"batch_size = = 3\n", "not valid Python"),
        (b"\x7fELF\0\0\0", "not a text file"),
        (b"# coding: utf-8\nx = '\xff\xfe'\n", "not valid utf-8"),
        (b"#" * (2 << 20), "larger than"),
        (b"x = " + b"[" * 5000 + b"]" * 5000, ""),
        (b"x = 1" + b" + 1" * 50_000, ""),
    ],
)
def test_an_unusable_train_script_is_said_and_not_used(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    found = project(tmp_path, {"train.py": content})
    assert replace(found, problems=(), unusable=None, foreign=False) == NANOGPT
    assert found.unusable is not None
    assert reason in found.unusable
    resolution = settle(tmp_path, files={"train.py": content})
    assert reasons(resolution) == {"the script": found.unusable}
    assert found.foreign is reason.endswith(("configurator", "of its keys"))
    assert len(found.problems) == 1
    assert reason in found.problems[0]
    assert "\n" not in found.problems[0]


def test_train_scripts_that_must_not_be_opened(tmp_path: Path) -> None:
    path = write_project(tmp_path) / "train.py"
    (tmp_path / "configurator.py").unlink()
    path.unlink()
    os.mkfifo(path)
    assert find_project(tmp_path / "a.py") is NANOGPT
    door.forget()
    path.unlink()
    path.symlink_to(path)
    assert "too many levels" in find_project(tmp_path / "a.py").problems[0]
    door.forget()
    path.unlink()
    path.symlink_to(tmp_path / "nowhere.py")
    assert "no such file" in find_project(tmp_path / "a.py").problems[0]
    path.unlink()
    path.mkdir()
    assert find_project(tmp_path / "a.py") is NANOGPT


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    assert project(tmp_path).defaults["batch_size"] == Known(12)
    (tmp_path / "train.py").write_text(
        train_script(settings=SETTINGS.replace("batch_size = 12", "batch_size = 345"))
    )
    door.forget(tmp_path / "train.py")
    assert find_project(tmp_path / "a.py").defaults["batch_size"] == Known(345)
    (tmp_path / "bench.py").write_text("seed = 1\nexec(open('configurator.py').read())\n")
    door.forget(tmp_path / "bench.py")
    assert "seed" in find_project(tmp_path / "a.py").known_keys


def test_an_unchanged_project_is_read_once(tmp_path: Path) -> None:
    first = project(tmp_path)
    assert find_project(tmp_path / "config" / "b.py") is first


def test_a_config_belongs_to_the_script_that_has_its_keys(tmp_path: Path) -> None:
    other = train_script(settings=f"{SETTINGS}n_experts = 4\n")
    write_project(tmp_path, {"train_moe.py": other, "config/a.py": "n_experts = 8\n"})
    found = find_project(tmp_path / "config" / "a.py")
    assert (found.train_script, found.doubts) == (tmp_path / "train_moe.py", ())


def test_a_config_of_a_program_further_down_is_a_doubt(tmp_path: Path) -> None:
    program = "def main(config):\n    train(config.prune_to)\n"
    files: dict[str, str | bytes] = {"more/prune.py": program, "config/a.py": "prune_to = 8\n"}
    write_project(tmp_path, files)
    (doubt,) = find_project(tmp_path / "config" / "a.py").doubts
    assert doubt.text == "only prune.py reads prune_to; checked with train.py"


def test_a_launch_line_of_another_config_of_that_name_tells_nothing(tmp_path: Path) -> None:
    line = "python train_b.py config/big/a.py\n"
    write_project(tmp_path, {"train_b.py": train_script(), "run/all.sh": line})
    assert find_project(tmp_path / "config" / "small" / "a.py").doubts
    found = find_project(tmp_path / "config" / "big" / "a.py")
    assert (found.train_script, found.doubts) == (tmp_path / "train_b.py", ())


def test_a_configurator_that_sets_what_the_script_never_reads_is_none(tmp_path: Path) -> None:
    script = train_script(settings=f"{SETTINGS}config_file = 'none'\n")
    text = CONFIGURATOR + "config_file = 'another'\n"
    assert project(tmp_path, {"train.py": script, "configurator.py": text}).doubts == ()
