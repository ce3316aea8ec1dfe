"""What a script is given where its launch line says nothing: paths, and what only a run has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from tests.unit.trainers.small_net import trained_on

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
import argparse
import socket
from pathlib import Path
from typing import Any, Iterable

import torch
import torch.nn.functional as F
from torch import nn
device = "cuda"
here = Path(__file__).parent
Some = Iterable[int] | None | Any
parser = argparse.ArgumentParser()
parser.add_argument("--name", type=str, default=socket.gethostname())
parser.add_argument("--data", type=str, default=f"{here}/data/tokens.bin")
parser.add_argument("--batch_size", type=int, default=16)
args = parser.parse_args()
"""
USES = {
    "a default that only a run has": "args.batch_size",
    "the text of a path": "args.batch_size if args.data.endswith('data/tokens.bin') else 32",
}


@pytest.mark.parametrize("use", USES)
def test_defaults(tmp_path: Path, use: str) -> None:
    text = HEAD + trained_on(f"torch.randint(0, 1000, ({USES[use]}, 128))")
    found = explained(tmp_path, text)
    assert (found["trust"], found["doubts"]) == ("read", [])
    plain = HEAD + trained_on("torch.randint(0, 1000, (16, 128))")
    assert found["peak"] == explained(tmp_path, plain)["peak"]


def test_a_module_by_its_text(tmp_path: Path) -> None:
    plain = HEAD + trained_on("torch.randint(0, 1000, (16, 128))")
    asks = """device = "cuda" if __import__("torch").cuda.is_available() else "cpu"\n"""
    found = explained(tmp_path, plain.replace('device = "cuda"\n', asks))
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] == explained(tmp_path, plain)["peak"]
