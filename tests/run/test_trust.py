"""How far a resolution is to be believed."""

from __future__ import annotations

from pathlib import Path

from nanolint.run.trust import Doubt, Subject, Trust, in_short, ordered
from tests.project_tree import LOOP, train_script
from tests.run.settling import settle


def test_what_matters_most_comes_first_and_nothing_twice() -> None:
    piece = Doubt(Subject.PIECE, "the loop is not nanoGPT's own")
    vocabulary = Doubt(Subject.VOCABULARY, "the vocabulary is made at run time")
    sizes = Doubt(Subject.SIZES, "the context is not known")
    other = Doubt(Subject.PIECE, "get_batch is not nanoGPT's own")
    found = ordered([piece, vocabulary, other, sizes, piece])
    assert found == (sizes, vocabulary, piece, other)


def test_the_first_stands_for_all() -> None:
    doubts = [Doubt(Subject.SIZES, "the context is not known")]
    assert in_short(doubts) == "the context is not known"
    doubts += [Doubt(Subject.PIECE, "the loop is not nanoGPT's own")] * 2
    assert in_short(doubts) == "the context is not known, and 2 more doubts"


def test_a_doubt_names_its_place() -> None:
    text = "get_batch is not nanoGPT's own"
    assert str(Doubt(Subject.PIECE, text, Path("a/train.py"), 7)) == f"{text} (train.py:7)"
    assert str(Doubt(Subject.PIECE, text, Path("a/train.py"))) == f"{text} (train.py)"
    assert str(Doubt(Subject.PIECE, text)) == text


def test_trust_is_what_the_doubts_leave_of_it(tmp_path: Path) -> None:
    assert settle(tmp_path).trust is Trust.EXACT
    strange: dict[str, str | bytes] = {"train.py": train_script(loop=LOOP + "    keep(error)\n")}
    assert settle(tmp_path, files=strange).trust is Trust.DOUBTED
    assert settle(tmp_path, "batch_size = choose()\n").trust is Trust.UNKNOWN
