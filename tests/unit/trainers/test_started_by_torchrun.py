"""Scripts that can only be started by torchrun: they ask for a rank, and name none themselves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.support.explained import explained
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FLAGS = ROOT / "validation" / "scripts" / "flags.py"
ASKS = 'import os\nrank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])\n'
TAKEN = "it reads RANK, so nanolint assumes one process that torchrun starts"


@pytest.fixture
def asking(tmp_path: Path) -> Callable[..., dict[str, object]]:
    def ask(asks: str, *words: str) -> dict[str, object]:
        text = FLAGS.read_text(encoding="utf-8")
        return explained(tmp_path, text.replace("args = parser", f"{asks}args = parser"), *words)

    return ask


def test_one_that_is_checked_by_itself_is_one_process(
    asking: Callable[..., dict[str, object]],
) -> None:
    plain, asked = asking(""), asking(ASKS)
    assert asked["trust"] == "doubted"
    assert asked["peak"] == plain["peak"]
    doubts = asked["doubts"]
    assert isinstance(doubts, list)
    assert [each for each in doubts if each.startswith(TAKEN)] == doubts[:1]


def test_one_that_asserts_its_rank_is_one_process(
    asking: Callable[..., dict[str, object]],
) -> None:
    demands = 'import os\nassert "RANK" in os.environ, "torchrun should set it"\n'
    asked = asking(f'{demands}rank = int(os.environ["RANK"])\n')
    assert asked["trust"] == "doubted"
    assert asked["peak"] == asking("")["peak"]
    assert asking('import os\nassert "DATA" in os.environ\n')["peak"] is None


def test_what_torchrun_does_not_set_is_not_made_up(
    asking: Callable[..., dict[str, object]],
) -> None:
    assert asking('import os\nrank = int(os.environ["DATA"])\n')["peak"] is None


def test_one_that_does_without_is_none(asking: Callable[..., dict[str, object]]) -> None:
    either = 'import os\nrank = int(os.environ.get("RANK", -1))\nddp = "RANK" in os.environ\n'
    assert asking(either)["doubts"] == []


def test_a_number_of_processes_sets_it(asking: Callable[..., dict[str, object]]) -> None:
    doubts = asking(ASKS, "--world-size=2")["doubts"]
    assert isinstance(doubts, list)
    assert not [each for each in doubts if each.startswith(TAKEN)]


def test_the_only_process_of_torchrun_is_told_its_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = FLAGS.read_text(encoding="utf-8").replace(
        "args = parser", 'import os\nassert "RANK" in os.environ\nargs = parser'
    )
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    asked = ("explain", "--isolated", "--gpu", "a100-40gb", "--format", "json", "--")
    for line in (("torchrun", "--nproc_per_node=1", "train.py"), ("torchrun", "train.py")):
        found = json.loads(nanolint(*asked, *line).out)
        assert (found["trust"], found["doubts"]) == ("read", [])
