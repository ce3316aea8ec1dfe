"""``[[tool.nanolint.target]]``: which card runs which files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import nanolint

LARGE = "batch_size = 16\ngradient_accumulation_steps = 4 * 8\ndtype = 'bfloat16'\n"
TABLES = """\
[[tool.nanolint.target]]
gpu = "a100-40gb"
count = 8
files = ["config/node_*.py"]

[[tool.nanolint.target]]
gpu = "rtx-3060"
in-use = "1GiB"
"""
JSON = "--output-format=json"
SELECT = "--select=NL101,NL304"


def write(settings: str, *names: str, text: str = LARGE) -> None:
    Path("config").mkdir(exist_ok=True)
    Path("nanolint.toml").unlink(missing_ok=True)
    Path("pyproject.toml").write_text(settings)
    for name in names:
        (Path("config") / name).write_text(text)


def judged(*arguments: str) -> list[tuple[str, str, str]]:
    """File, code and card of each finding."""
    found = json.loads(nanolint("config", SELECT, JSON, *arguments).out)
    return [(each["filename"], each["code"], each["gpu"]) for each in found]


def test_a_config_for_the_node_is_not_judged_by_the_laptop() -> None:
    write(TABLES, "node_a.py", "laptop.py")
    ((name, _, gpu),) = judged()
    assert (name, gpu) == ("config/laptop.py", "RTX 3060 12GB")


def test_each_card_that_runs_a_file_judges_it() -> None:
    more = TABLES + '[[tool.nanolint.target]]\ngpu = "10GB"\nfiles = ["node_a.py"]\n'
    write(more, "node_a.py", "node_b.py")
    ((name, _, gpu),) = judged()
    assert (name, gpu) == ("config/node_a.py", "10 GB card")


def test_the_count_is_the_world_size() -> None:
    settings = "[tool.nanolint]\nworld-size = 1\n" + TABLES
    write(settings, "node_a.py", text=LARGE.replace("4 * 8", "36"))
    assert [code for _, code, _ in judged()] == ["NL304"]
    assert judged("--world-size=4") == []


@pytest.mark.parametrize(("held", "findings"), [("6GiB", 1), ("1GiB", 0)])
def test_memory_in_use_is_each_cards_own(held: str, findings: int) -> None:
    write(TABLES.replace("1GiB", held), "laptop.py", text=LARGE.replace("= 16", "= 8"))
    assert len(judged()) == findings
    assert len(judged("--in-use=6GiB")) == 1


def test_a_card_on_the_command_line_judges_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    write(TABLES, "node_a.py", "laptop.py")
    assert [gpu for _, _, gpu in judged("--gpu=10GB")] == ["10 GB card", "10 GB card"]
    monkeypatch.setenv("NANOLINT_GPU", "80GB")
    assert judged() == []


def test_gpu_is_for_the_files_that_no_table_names() -> None:
    write('[tool.nanolint]\ngpu = "10GB"\n' + TABLES.partition("\n\n")[0], "node_a.py", "x.py")
    ((name, _, gpu),) = judged()
    assert (name, gpu) == ("config/x.py", "10 GB card")


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ('gpu = "rtx9999"', "pyproject.toml: target.0.gpu: unknown GPU 'rtx9999'"),
        ('gpu = "12GB"\nin-use = "x"', "pyproject.toml: target.0.in-use: 'x' is not a size"),
        ("count = 8", "[tool.nanolint]: target.0.gpu is missing"),
        ('gpu = "12GB"\ncount = 0', "[tool.nanolint]: target.0: count must be at least 1"),
        ('gpu = "12GB"\nfile = ["x"]', "unknown key 'target.0.file'; did you mean 'files'?"),
        ('gpu = "12GB"\nfiles = "x"', "target.0.files must be a list, not 'x'"),
    ],
)
def test_a_mistake_is_one_line_with_the_table(table: str, told: str) -> None:
    write(f"[[tool.nanolint.target]]\n{table}\n", "x.py")
    outcome = nanolint("config")
    assert outcome.status == 2
    assert told in outcome.error


def test_the_settings_are_shown() -> None:
    write(TABLES)
    shown = json.loads(nanolint("settings", "--format=json").out)
    tables = shown["target"]["value"]
    assert [table["gpu"] for table in tables] == ["a100-40gb", "rtx-3060"]
