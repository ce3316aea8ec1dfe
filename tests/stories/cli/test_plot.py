"""``explain --plot``: a picture whose text tells the run, the limit and what fails."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.support.command import nanolint
from tests.support.project_tree import TWICE, train_script, write_project
from tests.support.sizes import MODEL

CONFIG = "batch_size = 16\ngradient_accumulation_steps = 32\nblock_size = 1024\n" + MODEL


@pytest.fixture
def config() -> str:
    Path("config.py").write_text(CONFIG, encoding="utf-8")
    return "config.py"


def texts(picture: str) -> str:
    """All text of an SVG: matplotlib notes beside the outlines what they spell."""
    return "\n".join(re.findall("<!-- (.*?) -->", Path(picture).read_text(encoding="utf-8"), re.S))


class TestWithMatplotlib:
    @pytest.fixture(autouse=True)
    def matplotlib(self) -> None:
        pytest.importorskip("matplotlib")

    def test_a_run_that_fails(self, config: str) -> None:
        outcome = nanolint("explain", config, "--gpu=rtx-3060", "--plot=peak.svg")
        assert (outcome.status, outcome.out) == (0, "")
        told = texts("peak.svg")
        assert "config.py: batch_size 16, block_size 1024, 123.6M parameters" in told
        assert "RTX 3060 12GB: 11.38 GiB for PyTorch" in told
        assert "out of memory: gradient of the logits" in told
        assert "1.54 GiB more do not fit" in told
        for name in ("forward", "backward", "optimizer", "activations", "parameters"):
            assert name in told

    def test_a_run_that_fits_and_one_in_doubt(self, config: str, tmp_path: Path) -> None:
        nanolint("explain", config, "--gpu=a100-40gb", "--plot=peak.svg")
        told = texts("peak.svg")
        assert "peak: " in told
        assert "out of memory" not in told
        assert "(not certain)" not in told
        write_project(tmp_path, {"train.py": train_script(loop=TWICE)})
        nanolint("explain", config, "--gpu=a100-40gb", "--plot=peak.svg")
        assert "config.py (not certain): batch_size 16" in texts("peak.svg")

    def test_a_failure_in_the_first_evaluation(self, config: str) -> None:
        nanolint("explain", config, "--gpu=11.69GiB", "--set=batch_size=64", "--plot=peak.svg")
        assert "estimate_loss" in texts("peak.svg")
        assert "6.14 GiB more do not fit" in texts("peak.svg")

    def test_without_a_target_there_is_no_limit(self, config: str) -> None:
        nanolint("explain", config, "--plot=peak.svg")
        assert "for PyTorch" not in texts("peak.svg")

    @pytest.mark.parametrize("override", ["eval_only=True", "n_layer=1"])
    def test_runs_of_other_shapes(self, config: str, override: str) -> None:
        outcome = nanolint(
            "explain", config, "--gpu=rtx-4070", f"--set={override}", "--plot=peak.PNG"
        )
        assert outcome.status == 0
        assert Path("peak.PNG").read_bytes().startswith(b"\x89PNG")

    def test_the_same_run_gives_the_same_file(self, config: str) -> None:
        for name in ("one.svg", "two.svg"):
            nanolint("explain", config, "--gpu=rtx-3060", f"--plot={name}")
        assert Path("one.svg").read_bytes() == Path("two.svg").read_bytes()

    def test_any_name_can_be_drawn(self) -> None:
        name = "$x_$" + "長" * 60 + ".py"
        Path(name).write_text(CONFIG, encoding="utf-8")
        assert nanolint("explain", name, "--plot=peak.svg").status == 0

    def test_a_folder_that_is_not_there(self, config: str) -> None:
        outcome = nanolint("explain", config, "--plot=nowhere/peak.svg")
        assert outcome.status == 2
        assert outcome.error.startswith("nanolint: --plot: nowhere/peak.svg: ")


def test_without_matplotlib_one_line_says_what_to_install(
    config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    outcome = nanolint("explain", config, "--plot=peak.svg")
    assert outcome.status == 2
    assert "pip install 'nanolint[plot]'" in outcome.error
    assert not Path("peak.svg").exists()


def test_another_suffix(config: str) -> None:
    outcome = nanolint("explain", config, "--plot=peak.pdf")
    assert outcome.status == 2
    assert ".svg or .png" in outcome.error


def test_a_run_without_gpu_memory(config: str) -> None:
    outcome = nanolint("explain", config, "--set=device=cpu", "--plot=peak.svg")
    assert outcome.status == 2
    assert "uses no GPU memory" in outcome.error
