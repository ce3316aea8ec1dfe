"""Scripts that ask how they were started, and what their own flags are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
SIZES = "B, T, V, C = 8, 256, 1000, 128"
AS_SCRIPT = """if __package__ in (None, ""):
    from part import width
else:
    from .part import width
B, T, V, C = 8, 256, 1000, width"""
PART = """if __package__:
    raise RuntimeError("this is no package")
width = 128
"""
GROUPS = """import argparse
parser = argparse.ArgumentParser()
of_model = parser.add_argument_group('model')
of_model.add_argument('--n-embd', type=int, default=128)
of_model.add_argument('--vocab', type=int, default=1000)
of_training = parser.add_argument_group('training')
of_training.add_argument('--lr', type=float, default=1e-3)
args = parser.parse_args()
model_args = {each.dest: getattr(args, each.dest) for each in of_model._group_actions}
assert 'lr' not in model_args
B, T, V, C = 8, 256, model_args['vocab'], model_args['n_embd']"""


def peak(folder: Path, text: str) -> int:
    found = explained(folder, text, card="h200")
    assert (found["trust"], found["doubts"]) == ("read", [])
    bytes_: int = found["peak"]["allocated_bytes"]
    return bytes_


def test_a_script_and_what_lies_beside_it_are_in_no_package(tmp_path: Path) -> None:
    (tmp_path / "part.py").write_text(PART, encoding="utf-8")
    assert peak(tmp_path, BASE.replace(SIZES, AS_SCRIPT)) == peak(tmp_path, BASE)


def test_a_group_of_flags_knows_its_own(tmp_path: Path) -> None:
    assert peak(tmp_path, BASE.replace(SIZES, GROUPS)) == peak(tmp_path, BASE)


def test_a_script_that_refuses_its_launch_line_is_no_run_and_says_why(tmp_path: Path) -> None:
    asks = GROUPS.replace(
        "model_args =", "if args.lr < 0.01:\n    parser.error('--lr is too small')\nmodel_args ="
    )
    assert peak(tmp_path, BASE.replace(SIZES, asks.replace("1e-3", "1e-2"))) > 0
    found = explained(tmp_path, BASE.replace(SIZES, asks), card="h200")
    assert found["peak"] is None
    (why,) = [each for each in found["unresolved"] if each["key"] == "the memory"]
    assert "it takes no such launch line: --lr is too small" in why["reason"]
