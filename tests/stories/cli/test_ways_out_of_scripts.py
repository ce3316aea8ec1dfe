"""What would help a script that calls its values otherwise than nanoGPT: told by its own names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.command import nanolint
from tests.support.repository import ROOT

FLAGS = ROOT / "validation" / "scripts" / "flags.py"
LARGE = ("--sequence-length=1024", "--width=512", "--layers=8")
GPU = "--gpu=rtx-3060-8gb"


@pytest.fixture(autouse=True)
def script() -> None:
    Path("train.py").write_text(FLAGS.read_text(encoding="utf-8"), encoding="utf-8")


def explained(*words: str, option: str = "--color=never") -> str:
    return nanolint("explain", GPU, option, "train.py", "--", *LARGE, *words).out


def ways_out(*words: str) -> list[str]:
    """What is told to help, without its bytes."""
    _, _, told = explained(*words).partition("What would help")
    told, _, _ = told.partition("would not help")
    return [re.split(r"\s{2,}", line.strip())[0] for line in told.splitlines()[1:] if line.strip()]


def test_a_smaller_micro_batch_is_told_as_the_flag_that_sets_it() -> None:
    words = ("--batch-size=64", f"--total-batch-size={64 * 1024}")
    same, smaller, *rest = ways_out(*words)
    assert same == "same result"
    assert re.fullmatch(r"--batch-size=\d+", smaller)
    # With a total in tokens a smaller micro-batch is no smaller step, so that is not another way.
    assert not [each for each in rest if "effective batch" in each]
    told = json.loads(explained(*words, option="--format=json"))["ways_out"]
    assert told[0]["change"] == smaller
    page = nanolint("explain", GPU, "--html=page.html", "train.py", "--", *LARGE, *words)
    assert page.status == 0
    assert smaller in Path("page.html").read_text(encoding="utf-8")


def test_following_it_makes_the_run_fit() -> None:
    words = ("--batch-size=64", f"--total-batch-size={64 * 1024}")
    smaller = ways_out(*words)[1]
    out = explained(smaller, words[1])
    assert "\nfits RTX 3060 8GB" in out
    assert "65,536 tokens" in out


def test_the_table_of_fit_has_the_name_of_the_flag_and_the_tokens_that_are_kept() -> None:
    words = ("--batch-size=4", f"--total-batch-size={16 * 1024}")
    out = nanolint("fit", GPU, "train.py", "--", *LARGE, *words).out
    head, row = [line for line in out.splitlines() if "total" in line or "RTX" in line]
    assert "16,384 tokens a step kept" in out
    at = head.index("--batch-size") + len("--batch-size")
    assert row[:at].rstrip("*").split()[-1].isdigit()


def test_explain_lists_micro_batches_above_the_script_s_own() -> None:
    out = nanolint("explain", "train.py", "--", "--total-batch-size=4096").out
    assert "--batch-size can be 1, 2, 4, 8, 16 and 32 with as many tokens a step" in out
    out = nanolint("explain", "train.py", "--", "--total-batch-size=524288").out
    assert "can be 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 and more with as many" in out


def test_a_check_says_what_fits_in_a_smaller_step() -> None:
    path = Path("train.py")
    text = path.read_text(encoding="utf-8").replace("range(passes)", "range(1)")
    path.write_text(text, encoding="utf-8")
    out = nanolint(GPU, "--select=NL1", "--", "train.py", *LARGE, "--batch-size=64").out
    (said,) = [line for line in out.splitlines() if "= help:" in line]
    assert "no smaller --batch-size keeps 65,536 tokens a step" in said
    found = re.search(r"--batch-size=(\d+) fits, with ([\d,]+) tokens a step", said)
    assert found
    assert int(found[2].replace(",", "")) == 1024 * int(found[1])
    out = nanolint("explain", "train.py", "--", *LARGE, "--batch-size=64").out
    assert "--batch-size can be nothing else with as many tokens a step" in out
    assert "goes backward once" in out


@pytest.mark.parametrize("command", ["explain", "fit"])
def test_a_size_that_cannot_be_read_is_not_tried(command: str) -> None:
    """A script may do with a larger micro-batch what cannot be followed: that ends no command."""
    path = Path("train.py")
    text = path.read_text(encoding="utf-8")
    counted = "args.layers + 0 * len([0] * (args.batch_size * 200_000))"  # up to a million
    path.write_text(text.replace("range(args.layers)", f"range({counted})"), encoding="utf-8")
    words = ("--batch-size=4", "--total-batch-size=4096", "--sequence-length=128")
    found = nanolint(command, GPU, "train.py", "--", *words)
    assert (found.status, found.err) == (0, "")
    if command == "fit":
        (row,) = [line for line in found.out.splitlines() if "RTX 3060" in line]
        assert " 4* " in row
