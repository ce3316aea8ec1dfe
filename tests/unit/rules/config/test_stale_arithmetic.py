from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.harness import Bench
from tests.support.project_tree import train_script, write_project
from tests.support.sizes import MODEL

if TYPE_CHECKING:
    from pathlib import Path

VALUES = "batch_size = 4\nblock_size = 1024\ngradient_accumulation_steps = 15 * 8\n"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A config of a project whose train.py is nanoGPT's."""
    return write_project(tmp_path) / "config" / "a.py"


@pytest.fixture
def bench(config: Path) -> Bench:
    return Bench("NL313", path=config)


@pytest.mark.parametrize(
    ("comment", "fixed"),
    [
        (
            "# 12 batch size * 1024 block size * 5 gradaccum * 8 GPUs = 491,520",
            "# 4 batch size * 1024 block size * 15 gradaccum * 8 GPUs = 491,520",
        ),
        (
            "#12 batch_size*1024 tokens*40 grad_accum = 491520 tokens/iter",
            "#4 batch_size*1024 tokens*120 grad_accum = 491520 tokens/iter",
        ),
        (
            "# größer: 12 micro-batch × 1024 context × 40 accumulation steps = ~0.5M",
            "# größer: 4 micro-batch × 1024 context × 120 accumulation steps = ~0.5M",
        ),
        (
            "# 4 batch x 120 accumulation steps x 512 seq_len = 245_760",
            "# 4 batch x 120 accumulation steps x 1024 seq_len = 491_520",
        ),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_fixed(bench: Bench, comment: str, fixed: str, newline: str) -> None:
    text = f"{comment}\n{VALUES}".replace("\n", newline)
    assert bench.fixed(text) == f"{fixed}\n{VALUES}".replace("\n", newline)
    assert bench.fixed(f"{VALUES}{comment}") == f"{VALUES}{fixed}"


def test_it_tells_which_number_is_stale(bench: Bench) -> None:
    text = f"# 4 batch size * 1024 tokens * 40 grad_accum = 163,840\n{VALUES}"
    assert bench.finding(text).message == (
        "the comment's arithmetic is out of date: "
        "40 grad_accum should be 120, 163,840 should be 491,520"
    )


@pytest.mark.parametrize(
    "comment",
    [
        "# 4 batch size * 1024 block size * 15 gradaccum * 8 GPUs = 491,520",
        "# 4 * 120 = 480",
        "# 120 * 4 = 480",
        "# 4 batch size * 120 gradaccum * 1024 tokens = 0.5M",
        "# 12 batch * 512 things * 40 gradaccum = 245,760",  # what things?
        "# 12 batch * 1024 block = 12,288",  # says nothing of the accumulation
        "# 12 batch * 13 batch * 40 gradaccum = 1",
        "# 6 * 64 = 384",
        "# 12 * 40 = 480",  # not named: may be anything
        "# 12 * 40 * 1024 = 0.49M",
        "# 12 batch * 40 grad accum steps = 500",  # was never right
        "# 4 batch size * 1024 tokens * 5 gradaccum * 7 GPUs = 143,360",  # 120 / 7
        "# 301,966 tokens / 32,768 = 9.2 iters",
        "# 2 * 3 * 4 * 5 = 120",
        "# version 1.12 * 40 = 480",
        f"# {'9' * 500} * 2 = 3",
    ],
)
def test_not_reported(bench: Bench, comment: str) -> None:
    assert bench.findings(f"{comment}\n{VALUES}") == []


def test_the_command_line_does_not_make_a_comment_stale(config: Path) -> None:
    text = f"# 4 batch * 120 gradaccum = 480\n{VALUES}"
    assert Bench("NL313", path=config, overrides={"batch_size": 1}).findings(text) == []


def test_a_comment_is_right_again_after_the_batch_was_fixed() -> None:
    text = "# 64 batch size * 1024 tokens * 8 gradaccum = 524,288\n"
    text += "batch_size = 64\nblock_size = 1024\ngradient_accumulation_steps = 8\n" + MODEL
    fixed = Bench("NL101", gpu="rtx-3060").fixed_by_all(text)
    assert fixed.splitlines()[0] == "# 8 batch size * 1024 tokens * 64 gradaccum = 524,288"


def test_silent_about_all_gpus_where_the_file_says_what_each_does(tmp_path: Path) -> None:
    world = "\nif 'RANK' in os.environ:\n    device = 'cuda:' + os.environ['LOCAL_RANK']\n"
    write_project(tmp_path, {"train.py": train_script(world=world)})
    bench = Bench("NL313", path=tmp_path / "config" / "a.py")
    assert bench.findings(STALE) == []
    assert bench.findings(STALE.replace(" * 8 GPUs", "").replace("491,520", "61,440"))


STALE = f"# 12 batch size * 1024 block size * 5 gradaccum * 8 GPUs = 491,520\n{VALUES}"


def test_silent_where_no_script_says_what_the_names_mean(bench: Bench) -> None:
    assert bench.findings(STALE)
    assert Bench("NL313").findings(STALE) == []
