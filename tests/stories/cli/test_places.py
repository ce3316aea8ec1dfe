"""A value is pointed at where it stands: in train.py, on the launch line, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import nanolint
from tests.support.project_tree import train_script, write_project

T4 = "--gpu=t4"
JSON = "--output-format=json"
NAMES = ("config/a.py", "config/b.py", "config/c.py")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_project(tmp_path, {"train.py": train_script()})
    for name in NAMES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(
            "out_dir = 'out'\nbatch_size = 1\ngradient_accumulation_steps = 8\n", encoding="utf-8"
        )
    monkeypatch.chdir(tmp_path)


def line_of_dtype() -> tuple[int, str]:
    lines = Path("train.py").read_text(encoding="utf-8").splitlines()
    return next((row, text) for row, text in enumerate(lines, 1) if text.startswith("dtype ="))


def test_an_inherited_value_is_shown_in_train_py_and_not_on_a_strangers_line() -> None:
    row, source = line_of_dtype()
    out = nanolint("config/a.py", T4).out
    assert f"--> train.py:{row}:1, for config/a.py\n" in out
    assert f" {row} | {source}"[:60] in out
    assert "1 | out_dir" not in out
    assert "  --> config/a.py\n 4 + dtype = 'float16'\n" in out, "the line that would be added"


def test_every_format_for_programs_has_each_place_and_counts_alike() -> None:
    Path("nanolint.toml").write_text('[severity]\nNL405 = "warning"', encoding="utf-8")
    for name in ("c.py", "d.py", "e.py"):
        text = "import torch\ntorch.backends.cuda.matmul.allow_tf32 = True\n"
        Path(name).write_text(text, encoding="utf-8")
    mark = {
        "json": '"code": "',
        "sarif": '"ruleId": "',
        "github": "::warning ",
        "junit": "<failure",
    }
    mark |= {"gitlab": '"fingerprint": ', "concise": "NL405[warning]"}
    for style, each in mark.items():
        out = nanolint("c.py", "d.py", "e.py", "--select=NL405", f"--output-format={style}").out
        assert out.count(each) == 3, style
    people = nanolint("c.py", "d.py", "e.py", "--select=NL405").out
    assert (people.count("warning[NL405]"), people.count("Found 3 warnings")) == (1, 1)


def test_the_same_inherited_value_is_shown_once_for_all_that_take_it() -> None:
    outcome = nanolint("config", T4)
    assert outcome.out.count("error[NL203]") == 1
    assert ", for 3 files\n" in outcome.out
    assert "= note: in config/a.py, config/b.py and config/c.py\n" in outcome.out
    assert "Found 3 errors in 3 files." in outcome.out
    fixed = nanolint("config", T4, "--fix", "--unsafe-fixes")
    assert fixed.status == 0
    assert all("dtype = 'float16'" in Path(name).read_text() for name in NAMES)


def test_programs_get_the_place_beside_the_line_of_the_file() -> None:
    row, source = line_of_dtype()
    (found,) = json.loads(nanolint("config/a.py", T4, JSON).out)
    assert found["origin"]["filename"] == "train.py"
    assert found["origin"]["location"] == {"row": row, "column": 1}
    assert found["origin"]["text"] == source
    assert found["message"].endswith(f"(dtype: train.py:{row})")
    log = json.loads(nanolint("config/a.py", T4, "--output-format=sarif").out)
    (related,) = log["runs"][0]["results"][0]["relatedLocations"]
    place = related["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("train.py", row)


def test_lines_of_other_formats_name_it() -> None:
    row, _ = line_of_dtype()
    for name in ("concise", "github"):
        out = nanolint("config/a.py", T4, f"--output-format={name}").out
        assert f"(dtype: train.py:{row})" in out


def test_a_value_of_the_file_is_shown_there_as_ever() -> None:
    Path("config/a.py").write_text(
        "batch_size = 512\ngradient_accumulation_steps = 1\n", encoding="utf-8"
    )
    (found,) = json.loads(nanolint("config/a.py", "--gpu=rtx-3060-12gb", JSON).out)
    assert found["origin"] is None
    assert found["location"] == {"row": 1, "column": 1}
