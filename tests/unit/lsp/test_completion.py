"""Completion of keys, values, rule codes, and of cards in settings files."""

from __future__ import annotations

from pathlib import Path

import pytest

from nanolint.gpus.catalogue import load
from nanolint.gpus.lookup import find
from nanolint.lsp.completion import Completion, complete
from nanolint.lsp.settings_file import complete_settings
from nanolint.trainers.nanogpt.keys import KEYS
from nanolint.trainers.nanogpt.project import NANOGPT, find_project
from tests.support.lsp_configs import RULES, split
from tests.support.project_tree import train_script, write_project

# Without a train.py around it, a file is a config once it has two of nanoGPT's keys.
CONFIG = "learning_rate = 1e-3\nmin_lr = 1e-4\n"


def offered(marked: str) -> dict[str, Completion]:
    text, offset = split(CONFIG + marked)
    return {each.label: each for each in complete(text, offset, NANOGPT, RULES)}


def accepted(marked: str, label: str) -> str:
    """The text after ``label`` was taken from the list."""
    text, _ = split(CONFIG + marked)
    chosen = offered(marked)[label]
    after = text[: chosen.span.start] + chosen.new_text + text[chosen.span.end :]
    return after.removeprefix(CONFIG)


def test_every_key_of_nanogpt_is_offered_with_default_and_meaning() -> None:
    found = offered("|")
    unset = [key for key in KEYS if key not in ("learning_rate", "min_lr")]
    assert list(found)[: len(unset)] == unset
    assert found["batch_size"].detail == "nanoGPT's default: 12"
    assert found["batch_size"].documentation == KEYS["batch_size"].meaning
    assert found["dtype"].detail == "nanoGPT's default: depends on the machine"
    assert all(each.documentation for each in found.values())


def test_a_key_is_completed_with_its_default_as_the_part_to_type_over() -> None:
    key = offered("x = 1\nbat|\n")["batch_size"]
    assert key.new_text == "batch_size = 12"
    assert key.snippet == "batch_size = ${1:12}"
    assert accepted("x = 1\nbat|\n", "batch_size") == "x = 1\nbatch_size = 12\n"


def test_a_key_that_has_its_value_is_only_renamed() -> None:
    assert accepted("bat|ch = 16  # why\n", "batch_size") == "batch_size = 16  # why\n"


def test_keys_that_the_file_sets_are_not_offered_again() -> None:
    found = offered("batch_size = 4\n|")
    assert "batch_size" not in found and "block_size" in found
    assert "batch_size" in offered("batch_size| = 4\n")


@pytest.mark.parametrize("marked", ["x = '|", "'''\n|", "x = (|", "  |", "4|", "x = 'a' + |"])
def test_keys_are_offered_at_the_start_of_a_line_only(marked: str) -> None:
    assert not offered(marked)


def test_keys_of_the_projects_own_come_with_the_default_and_comment_of_its_train_py(
    tmp_path: Path,
) -> None:
    extra = "rotary_base = 10000  # of the rotary embedding\nname = 'a}b$c'\n"
    write_project(tmp_path, {"train.py": train_script(extra_settings=extra)})
    project = find_project(tmp_path / "config" / "x.py")
    found = {each.label: each for each in complete("", 0, project)}
    assert next(iter(found)) == "out_dir"
    assert found["rotary_base"].detail == "train.py's default: 10000"
    assert found["rotary_base"].documentation == "of the rotary embedding"
    assert found["name"].snippet == "name = ${1:'a\\}b\\$c'}"
    assert found["num_samples"].detail == ""  # a key of sample.py


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("dtype", ["'float32'", "'bfloat16'", "'float16'"]),
        ("init_from", ["'scratch'", "'resume'", "'gpt2'", "'gpt2-medium'"]),
        ("backend", ["'nccl'", "'gloo'"]),
        ("compile", ["True", "False"]),
        ("device", ["'cuda'", "'cpu'", "'mps'"]),
    ],
)
def test_the_values_of_a_choice_are_offered(key: str, values: list[str]) -> None:
    assert set(values) <= offered(f"{key} = |").keys()


def test_a_value_takes_the_place_of_what_was_typed_in_the_quotes_that_were_typed() -> None:
    assert accepted('dtype = "bf|"  # why', '"bfloat16"') == 'dtype = "bfloat16"  # why'
    assert accepted("dtype = 'bf|", "'bfloat16'") == "dtype = 'bfloat16'"
    assert accepted("dtype=fl|oat16", "'float32'") == "dtype='float32'"
    assert not offered("compile = '|'")  # a string is always true


def test_the_default_among_the_values_is_marked() -> None:
    assert offered("init_from = |")["'scratch'"].detail == "new weights, the default"


def test_the_data_sets_of_the_project_are_offered(tmp_path: Path) -> None:
    write_project(tmp_path, {"data/poems/prepare.py": "", "data/notes.txt": ""})
    project = find_project(tmp_path / "config" / "x.py")
    text = "dataset = "
    assert [each.label for each in complete(text, len(text), project)] == ["'poems'"]


def test_nothing_is_offered_for_a_number() -> None:
    assert not offered("batch_size = |")


def test_rule_codes_are_offered_in_a_suppression() -> None:
    marked = "batch_size = 4  # nanolint: ignore[NL103, nl|2] why"
    assert accepted(marked, "NL303").endswith("ignore[NL103, NL303] why")
    assert offered(marked)["NL103"].detail == "thin-margin"
    assert not offered("batch_size = 4  # see ignore[NL|")
    assert not offered("batch_size = 4  # nanolint: ignore[NL103] wh|y")


CARDS = [
    ("nanolint.toml", "gpu = |"),
    ("nanolint.toml", 'gpu = "rtx|"'),
    ("nanolint.toml", 'gpu = ["rtx-4090", |]'),
    ("nanolint.toml", 'gpu = [\n  "rtx-4090",  # mine\n  "a1|'),
    ("nanolint.toml", 'gpu = "RTX 4070"\n[[target]]\ngpu = "|"\nfiles = ["a.py"]'),
    ("pyproject.toml", '[project]\nname = "x"\n[tool.nanolint]\nignore = ["NL1"]\ngpu = "|"'),
    ("pyproject.toml", "[[ tool.nanolint.target ]]\r\ngpu = '|"),
]
NO_CARDS = [
    ("nanolint.toml", "in-use = |"),
    ("nanolint.toml", 'gpu = "rtx-4070" |'),
    ("nanolint.toml", 'gpu = ["rtx-4070"]|'),
    ("nanolint.toml", "gpu = [  # ca|"),
    ("nanolint.toml", "g|pu = 1"),
    ("nanolint.toml", '[severity]\ngpu = "|"'),
    ("pyproject.toml", 'gpu = "|"'),
    ("pyproject.toml", '[tool.nanolint]\nignore = []\n[tool.other]\ngpu = "|"'),
]


@pytest.mark.parametrize(("name", "marked"), CARDS)
def test_every_card_is_offered_where_settings_name_one(name: str, marked: str) -> None:
    text, offset = split(marked)
    found = complete_settings(Path(name), text, offset)
    assert {each.label for each in found} == {gpu.name for gpu in load()}


@pytest.mark.parametrize(("name", "marked"), NO_CARDS)
def test_no_card_is_offered_elsewhere(name: str, marked: str) -> None:
    assert complete_settings(Path(name), *split(marked)) == ()


def test_a_card_takes_the_place_of_what_was_typed_and_keeps_the_count() -> None:
    text, offset = split("gpu = '8x a1|'  # the node")
    card = next(
        each
        for each in complete_settings(Path("nanolint.toml"), text, offset)
        if each.label == "8x A100 80GB"
    )
    after = text[: card.span.start] + card.new_text + text[card.span.end :]
    assert after == "gpu = '8x A100 80GB'  # the node"
    assert find("8x A100 80GB").label == "8x A100 80GB"
    assert "GiB" in card.detail and "108 SMs" in card.documentation


@pytest.mark.parametrize(
    "text", ["", "import torch\n\nclass Model:\n    pass\n", "for x in y:\n    pass\n"]
)
def test_python_that_is_no_config_is_left_in_peace(text: str) -> None:
    assert complete(text, len(text), NANOGPT, RULES) == ()


def test_train_py_is_completed_above_its_configurator_line_only(tmp_path: Path) -> None:
    path = write_project(tmp_path) / "train.py"
    project, text = find_project(path), path.read_text()
    above, below = text.index("\nbatch_size") + 1, text.index("\nmodel_args = ") + 1
    assert complete(text, above, project, path=path)
    assert not complete(text, below, project, path=path)
