"""Fixes of scripts that are their own config, held to what Python makes of their arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.support.own_scripts import GPU, own_script, put_profile, step_of

if TYPE_CHECKING:
    from pathlib import Path

TOTAL = """
TOTAL = 64 * 512  # tokens
B = {B}  # micro-batch
T = 512
W = int(os.environ.get("WORLD_SIZE", 1))
assert TOTAL % (B * T * W) == 0
passes = TOTAL // (B * T * W)
"""
ROUNDED = TOTAL.replace("assert TOTAL % (B * T * W) == 0\n", "")
RAISED = TOTAL.replace(
    "assert TOTAL % (B * T * W) == 0",
    "if TOTAL % (B * T * W) != 0:\n    print(B)\n    raise AssertionError('no multiple')",
)
VALIDATED = TOTAL.replace("passes", "assert 24 * 512 % (B * T * W) == 0\npasses", 1)
ACCUMULATED = """
B, T = {B}, 512
accumulation = 2  # passes
passes = accumulation
"""
FIELDS = """
class Args:
    batch_size: int = 64  # sequences of all processes
    device_batch_size: int = {B}  # of one
args, T = Args(), 512
B = args.device_batch_size
passes = args.batch_size // B
"""
FLAGS = """
parser = argparse.ArgumentParser()
parser.add_argument("--device-batch-size", type=int, default={B})
parser.add_argument("--total-batch-size", type=int, default=64 * 512)
parser.add_argument("--seed", type=int, default=0)
args, T = parser.parse_args(), 512
B = args.device_batch_size
assert args.total_batch_size % (B * T) == 0
passes = args.total_batch_size // (B * T)
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(root: Path, text: str, world_size: int = 1) -> Path:
    script = root / "train.py"
    script.write_text(text)
    put_profile(root, script, world_size)
    return script


def test_two_numbers_change_where_the_accumulation_is_given(root: Path) -> None:
    text = own_script(ACCUMULATED.replace("{B}", "32"))
    script = put(root, text)
    assert "B = 16, accumulation = 4 fits" in nanolint("--gpu", GPU, "train.py").out
    nanolint("--fix", "--unsafe-fixes", "--gpu", GPU, "train.py")
    fixed = script.read_text()
    assert fixed == text.replace("B, T = 32", "B, T = 16").replace("= 2  # p", "= 4  # p")
    assert step_of(fixed) == (16, step_of(text)[1])


def test_only_what_every_check_admits(root: Path) -> None:
    """16 would divide the total, and not the tokens of the validation."""
    text = own_script(VALIDATED.replace("{B}", "32").replace("24 *", "32 * 9 // 9 *"))
    text = text.replace("* 512 % (B * T * W)", "* 512 % (B * T * W) == 0 and 8 % (48 // B)")
    script = put(root, text)
    nanolint("--fix", "--gpu", GPU, "train.py")
    assert step_of(script.read_text())[1] == step_of(text)[1]


def test_where_no_value_shrinks_it_that_is_said_with_the_smallest_card(root: Path) -> None:
    """parameter-golf's 8 // world size."""
    text = own_script("TOKENS, T = 8 * 32 * 512, 512\nB = TOKENS // (8 * T)\npasses = 8 // 8\n")
    put(root, text)
    outcome = nanolint("--gpu", GPU, "train.py")
    assert outcome.status == 1
    assert "the micro-batch is TOKENS // (8 * T); no value makes it smaller" in outcome.out
    assert "the smallest card for" in outcome.out


def test_one_pass_that_is_more_than_the_total_is_not_said_to_be_none(root: Path) -> None:
    at_least = "passes = max(1, TOTAL // (B * T * W))\n"
    (root / "train.py").write_text(own_script(ROUNDED.format(B=128) + at_least))
    out = nanolint("--output-format=concise", "--select=NL417", "--world-size=1", "train.py").out
    assert "NL417[warning] a step takes 65,536 tokens, not 32,768" in out


def test_fewer_passes_of_more_are_no_rounding(root: Path) -> None:
    follows = "ROWS = 64\npasses = 8 // W\nB = ROWS // (W * passes)\n"
    (root / "train.py").write_text(own_script(ROUNDED.format(B=1) + follows))
    assert _codes(root, 3) == set()


def test_what_the_number_of_processes_alone_decides_is_a_check(root: Path) -> None:
    asks = 'if 8 % W != 0:\n    raise ValueError(f"{W} has to divide 8")\npasses = 8 // W\n'
    (root / "train.py").write_text(own_script(ROUNDED.format(B=8) + asks))
    assert _codes(root, 3) == {"NL415"}
    assert _codes(root, 4) == set()


def test_a_script_that_asks_itself_is_not_told_that_it_rounds(root: Path) -> None:
    asks = "passes = TOTAL // (B * T * W)\nif TOTAL % (B * T * W) != 0:\n    {}()\n"
    text = own_script(ROUNDED.format(B=24) + asks.format("fail"))
    (root / "train.py").write_text(f"from checks import fail\n{text}")
    assert _codes(root, 1) == set()


def test_where_the_micro_batch_is_computed_the_check_is_pointed_at(root: Path) -> None:
    text = own_script(TOTAL.format(B=24).replace("B = 24", "ROWS = 12\nB = 2 * ROWS"))
    (root / "train.py").write_text(text)
    out = nanolint("--output-format", "concise", "--select", "NL415", "train.py").out
    row = next(n for n, line in enumerate(text.splitlines(), 1) if line.startswith("assert TOTAL"))
    assert out.startswith(f"train.py:{row}:1: NL415")


def test_a_branch_on_the_remainder_does_not_hide_what_divides(root: Path) -> None:
    asks = "if TOTAL % (B * T * W) != 0:\n    fail()\nassert"
    text = f"from checks import fail\n{own_script(TOTAL.format(B=24).replace('assert', asks))}"
    (root / "train.py").write_text(text)
    assert _codes(root, 1) == {"NL415"}
    nanolint("--fix", "--select", "NL415", "train.py")
    assert (root / "train.py").read_text() == text.replace("B = 24 ", "B = 16 ")


def _codes(root: Path, world_size: int) -> set[str]:
    out = nanolint(
        *("--output-format", "concise", "--select", "NL415,NL417"),
        *(f"--world-size={world_size}", str(root / "train.py")),
    ).out
    return {word[:5] for word in out.split() if word.startswith("NL41")}


def _runs(arithmetic: str, batch: int, world_size: int) -> bool:
    try:
        _, tokens = step_of(own_script(arithmetic.replace("{B}", str(batch))), world_size)
    except AssertionError:
        return False
    return tokens == 64 * 512


def test_several_micro_steps_are_not_made_where_the_gradients_would_not_be_averaged(
    root: Path,
) -> None:
    late = "        model.require_backward_grad_sync = micro_step == passes - 1\n"
    text = own_script(TOTAL.replace("{B}", "32"))
    for flag, offered in ((late, False), ("", True)):
        put(root, text.replace("        loss.backward", f"{flag}        loss.backward"), 2)
        out = nanolint("--gpu", GPU, "--world-size=2", "--select", "NL1", "train.py").out
        assert ("stops averaging gradients" in out) is not offered
        assert ("(--fix)" in out) is offered


def test_a_value_of_another_module_is_pointed_at_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sizes.py").write_text("# of the card\nB = 32  # sequences\n")
    script = tmp_path / "train.py"
    script.write_text(own_script(TOTAL.replace("B = {B}", "from sizes import B")))
    put_profile(tmp_path, script)
    out = nanolint("train.py", "--gpu", GPU, "--select=NL1").out
    assert "--> sizes.py:2:" in out
    assert "2 | B = 32  # sequences" in out
