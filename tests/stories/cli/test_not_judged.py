"""What was not checked is said, and never taken for clean."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli_configs import GPU, LARGE, SMALL, write
from tests.support.command import nanolint
from tests.support.project_tree import write_project

OTHER_TRAINER = "B = 64\nT = 1024\nfor step in range(9):\n    loss.backward()\n"
WITH_RUNS = "--output-format=json-full"


NO_CALL = "its batch is not known: no call of a model was found before backward()"


def test_a_named_program_is_said_to_hold_no_run() -> None:
    write("train_x.py", OTHER_TRAINER)
    outcome = nanolint("train_x.py", GPU)
    assert outcome.status == 0
    assert outcome.out == (
        f"Not checked: train_x.py: {NO_CALL} (train_x.py:4); "
        "`nanolint trace -- python train_x.py ...` gives a number\nNo run was checked.\n"
    )


def test_an_empty_folder_is_not_clean() -> None:
    Path("empty").mkdir()
    outcome = nanolint("empty", GPU)
    assert (outcome.status, outcome.out) == (0, "No run was checked.\n")
    assert outcome.error == "nanolint: no Python files found"


def test_a_folder_ends_with_what_was_judged(tmp_path: Path) -> None:
    write_project(tmp_path)
    write("config/a.py", SMALL)
    write("config/b.py", SMALL.replace("= 8", "= choose()"))
    write("tools/x.py", OTHER_TRAINER)
    out = nanolint(".", GPU).out
    assert out.endswith("2 runs checked for RTX 3060 12GB; 2 not checked; 3 files hold no run.\n")
    assert "Not checked: tools/x.py: " in out


def test_launch_refuses_a_script_that_is_no_run() -> None:
    write("train_x.py", OTHER_TRAINER)
    outcome = nanolint("launch", GPU, "--", "python", "train_x.py")
    assert outcome.status == 2
    assert "nanolint: train_x.py: holds no run: its batch is not known: no call" in outcome.err


class TestJsonFull:
    KEYS = (
        *("file", "launch", "gpu", "fits", "trust", "doubts", "left_open", "unread"),
        *("process_bytes", "usable_bytes"),
    )

    def test_the_shape_is_promised(self, tmp_path: Path) -> None:
        write_project(tmp_path)
        write("config/large.py", LARGE)
        write("config/small.py", SMALL)
        told = json.loads(nanolint("config", GPU, "--gpu=rtx-4090", WITH_RUNS).out)
        assert list(told) == ["next", "findings", "runs"]
        plain = json.loads(nanolint("config", GPU, "--gpu=rtx-4090", "--output-format=json").out)
        assert told["findings"] == plain
        assert all(tuple(run) == self.KEYS for run in told["runs"])
        assert [(run["file"], run["gpu"], run["fits"]) for run in told["runs"]] == [
            ("config/large.py", "RTX 3060 12GB", False),
            ("config/large.py", "RTX 4090", True),
            ("config/small.py", "RTX 3060 12GB", True),
            ("config/small.py", "RTX 4090", True),
        ]
        large, _, small, _ = told["runs"]
        assert large["process_bytes"] > large["usable_bytes"] > small["process_bytes"] > 0
        assert {run["trust"] for run in told["runs"]} == {"read"}

    def test_the_numbers_are_those_of_explain(self) -> None:
        write("a.py", SMALL)
        (run,) = json.loads(nanolint("a.py", GPU, WITH_RUNS).out)["runs"]
        told = json.loads(nanolint("explain", "a.py", GPU, "--format=json").out)
        assert run["process_bytes"] == told["peak"]["process_bytes"]
        assert run["usable_bytes"] == told["gpu"]["usable_bytes"]
        assert (run["trust"], run["doubts"]) == (told["trust"], told["doubts"])

    def test_an_unknown_run_has_no_number_and_the_reason(self) -> None:
        write("a.py", "batch_size = choose()\nblock_size = 64\n")
        (run,) = json.loads(nanolint("a.py", GPU, WITH_RUNS).out)["runs"]
        assert (run["fits"], run["process_bytes"], run["trust"]) == (None, None, "unknown")
        assert run["doubts"][0].startswith("not known before the run: batch_size (")

    def test_without_a_card_nothing_is_said_to_fit(self) -> None:
        write("a.py", SMALL)
        (run,) = json.loads(nanolint("a.py", WITH_RUNS).out)["runs"]
        assert (run["gpu"], run["fits"], run["usable_bytes"]) == (None, None, None)

    def test_runs_are_judged_whatever_rules_are_selected(self) -> None:
        write("a.py", LARGE)
        told = json.loads(nanolint("a.py", GPU, WITH_RUNS, "--select=NL3").out)
        assert (told["findings"], told["runs"][0]["fits"]) == ([], False)
        assert (told["next"]["action"], told["next"]["why"]) == ("change", "it does not fit")


def test_the_same_reason_is_not_given_twice() -> None:
    write("a.py", SMALL)
    out = nanolint("a.py", GPU, "--set", "n_embd=769", "--output-format=concise").out
    assert out.splitlines()[1:] == ["Found 1 error in 1 file."]


@pytest.mark.parametrize("output_format", ["json", "json-full", "sarif", "github"])
def test_statistics_go_beside_what_programs_read(output_format: str) -> None:
    write("a.py", LARGE)
    plain = nanolint("a.py", GPU, f"--output-format={output_format}")
    counted = nanolint("a.py", GPU, f"--output-format={output_format}", "--statistics")
    assert counted.out == plain.out
    assert "1  NL102  oversized-logits  (1 fixable)\n" in counted.err
    refused = nanolint("a.py", GPU, f"--output-format={output_format}", "--diff")
    assert (refused.status, refused.error) == (
        2,
        f"nanolint: --diff prints a diff, not {output_format}; give only one of them",
    )


def test_what_is_no_python_is_not_read_as_such() -> None:
    write("README.md", "# Notes\n\nTrains GPT-2 in 4d on one 8xA100 node.\n")
    outcome = nanolint("README.md", GPU)
    assert (outcome.status, outcome.error) == (2, "nanolint: README.md: not a Python file")
    write("broken.py", "batch_size = (\n")
    broken = nanolint("broken.py", GPU, "--output-format=concise")
    assert broken.status == 1
    assert broken.out.splitlines()[1:] == ["Found 1 error in 1 file.", "No run was checked."]


def test_other_trainers_of_a_folder_are_named() -> None:
    write("scripts/base_train.py", OTHER_TRAINER)
    write("scripts/tools.py", "print(1)\n")
    assert nanolint("scripts", GPU).out == (
        f"Not checked: scripts/base_train.py: {NO_CALL} (base_train.py:4); "
        "`nanolint trace -- python scripts/base_train.py ...` gives a number\n"
        "No run was checked.\n"
    )


def test_a_model_of_too_many_layers_is_refused_once_and_not_built(tmp_path: Path) -> None:
    write_project(tmp_path, {"a.py": "batch_size = 4\nn_layer = 10**6\n"})
    out = nanolint(str(tmp_path / "a.py"), "--gpu=rtx-3060").out
    assert out.count("memory not checked") == 1
    assert "n_layer: 1000000 is beyond every GPU" in out
