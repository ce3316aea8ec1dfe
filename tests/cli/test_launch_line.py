"""``nanolint launch``, and shell scripts among the files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import nanolint
from tests.project_tree import write_project

CONFIG = "config/large.py"
LARGE = "batch_size = 8\ngradient_accumulation_steps = 64\ndtype = 'bfloat16'\n"
GPU, JSON = "--gpu=rtx-3060-12gb", "--output-format=json"


@pytest.fixture(autouse=True)
def project() -> None:
    write_project(Path(), {CONFIG: LARGE})


def launched(line: str, *options: str) -> set[str]:
    """The codes of what is found in the run that ``line`` starts."""
    outcome = nanolint("launch", GPU, JSON, *options, "--", *line.split())
    return {finding["code"] for finding in json.loads(outcome.out)}


class TestLaunch:
    def test_overrides_count(self) -> None:
        assert not launched(f"python train.py {CONFIG}") & {"NL101", "NL102"}
        assert launched(f"python train.py {CONFIG} --batch_size=32") & {"NL101", "NL102"}

    def test_the_world_size_counts(self) -> None:
        assert "NL304" not in launched(f"torchrun --nproc_per_node=8 train.py {CONFIG}")
        assert "NL304" in launched(f"torchrun --nproc_per_node=3 train.py {CONFIG}")
        assert "NL304" not in launched(
            f"torchrun --nproc_per_node=3 train.py {CONFIG}", "--world-size=2"
        )

    @pytest.mark.parametrize("processes", ["4", "8", "16"])
    def test_a_node_is_used_in_part_whole_or_several_times(self, processes: str) -> None:
        line = f"torchrun --nproc_per_node={processes} train.py {CONFIG}"
        outcome = nanolint("launch", "--gpu=8xA100-80GB", "--", *line.split())
        assert outcome.status in (0, 1)

    def test_a_line_as_one_word(self) -> None:
        outcome = nanolint("launch", GPU, "--", f"torchrun --nproc_per_node=3 train.py {CONFIG}")
        assert "NL304" in outcome.out

    def test_without_a_config_train_py_itself_is_judged(self) -> None:
        outcome = nanolint("launch", GPU, JSON, "--", "python", "train.py", "--batch_size=64")
        names = {finding["filename"] for finding in json.loads(outcome.out)}
        assert names == {"train.py"}

    def test_a_script_elsewhere(self) -> None:
        outcome = nanolint("launch", GPU, "--", "python", "/cluster/train.py", CONFIG)
        assert outcome.error == (
            "nanolint: /cluster/train.py: no such file; judged as nanoGPT's own train.py"
        )

    @pytest.mark.parametrize("arguments", [(), ("--",), ("torchrun", "train.py"), ("a", "--", "b")])
    def test_without_two_dashes(self, arguments: tuple[str, ...]) -> None:
        outcome = nanolint("launch", *arguments)
        assert outcome.status == 2
        assert outcome.error.startswith("nanolint: the launch line stands after --")

    @pytest.mark.parametrize("line", ["make train", "python train.py 'x"])
    def test_what_is_no_launch_line(self, line: str) -> None:
        outcome = nanolint("launch", "--", line)
        assert outcome.status == 2
        assert outcome.error.startswith("nanolint: after --: ")


class TestShellScripts:
    def test_each_line_is_a_run(self) -> None:
        Path("jobs").mkdir()
        Path("jobs/run.sh").write_text(
            f"python train.py {CONFIG}\ntorchrun --nproc_per_node=3 train.py {CONFIG}\n"
        )
        outcome = nanolint("jobs/run.sh", GPU, "--select=NL304")
        assert outcome.status == 1
        assert outcome.out.count("NL304") == 1
        assert "note: as launched in jobs/run.sh:2" in outcome.out

    def test_paths_relative_to_the_repository(self, monkeypatch: pytest.MonkeyPatch) -> None:
        Path("jobs").mkdir()
        Path("jobs/run.sh").write_text(f"torchrun --nproc_per_node=3 train.py {CONFIG}\n")
        monkeypatch.chdir("jobs")
        (finding,) = json.loads(nanolint("run.sh", GPU, "--select=NL304", JSON).out)
        assert Path(finding["filename"]).samefile(f"../{CONFIG}")

    def test_a_script_without_launches(self) -> None:
        Path("run.sh").write_text("make all\n")
        outcome = nanolint("run.sh", GPU)
        assert outcome.status == 0
        assert outcome.error == "nanolint: run.sh: no line launches a training script"

    def test_a_script_that_is_not_there(self) -> None:
        assert nanolint("gone.sh").status == 2
