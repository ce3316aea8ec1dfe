"""How far a resolution is to be believed."""

from __future__ import annotations

from pathlib import Path

from nanolint.files.notes import forget
from nanolint.run.settled import Options
from nanolint.run.trust import Doubt, Subject, Trust, in_short, ordered
from nanolint.source.parse import parse
from nanolint.trainers.nanogpt.project import find_project
from nanolint.trainers.nanogpt.resolve import resolve
from tests.support.project_tree import LOADER, train_script
from tests.support.sizes import MODEL
from tests.unit.run.settling import settle


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
    loader = LOADER.replace("size=(batch_size,)", "size=shape").replace("def ", "shape = 3\n\ndef ")
    strange: dict[str, str | bytes] = {"train.py": train_script(loader=loader)}
    assert settle(tmp_path, files=strange).trust is Trust.DOUBTED
    assert settle(tmp_path, "batch_size = choose()\n").trust is Trust.UNKNOWN


def test_sizes_that_are_nanogpts_own_are_one_doubt_where_no_script_is_near(tmp_path: Path) -> None:
    text = "batch_size = 4\nblock_size = 256\n"
    (doubt,) = settle(tmp_path, text, bare=True).doubts
    which = "gradient_accumulation_steps, n_layer, n_head and n_embd are"
    assert str(doubt) == f"{which} nanoGPT's own: nanolint found no training script"
    assert doubt.subject is Subject.SIZES
    assert settle(tmp_path, text).trust is Trust.EXACT, "a train.py says"


def test_what_a_lone_config_is_given_is_not_nanogpts_own(tmp_path: Path) -> None:
    text = "batch_size = 4\nblock_size = 256\ngradient_accumulation_steps = 8\nn_layer = 12\n"
    (doubt,) = settle(tmp_path, text + "n_head = 12\n", bare=True).doubts
    assert str(doubt).startswith("n_embd is nanoGPT's own: ")
    given = "n_head=12", "n_embd=768"
    assert settle(tmp_path, text, *given, bare=True).trust is Trust.EXACT
    pretrained = settle(tmp_path, text + "init_from = 'gpt2-xl'\ncompile = False\n", bare=True)
    assert pretrained.trust is Trust.EXACT, "the checkpoint says"


def test_a_config_folder_without_a_script_is_one_doubt(tmp_path: Path) -> None:
    """That no script is near is said with the sizes, and alone where all are set."""
    (tmp_path / ".git").mkdir()
    project = find_project(tmp_path / "config" / "a.py")
    for text, said in (
        ("batch_size = 4\n", "nanolint found no training script"),
        (WHOLE, "nanolint found no training script; checked with nanoGPT's own train.py"),
    ):
        module = parse(text, project.environment)
        (doubt,) = resolve(module, project, Options(), None).doubts
        assert str(doubt).endswith(said)


def test_a_config_of_a_project_is_doubted_however_deep_its_folder_lies(tmp_path: Path) -> None:
    """Also of a copy that has no history."""
    folder = tmp_path / "copy" / "configs" / "stories"
    folder.mkdir(parents=True)
    for beside, doubts in ((None, 0), ("src", 1)):
        if beside is not None:
            (tmp_path / "copy" / beside).mkdir()
        forget()
        project = find_project(folder / "train.py.txt")
        module = parse(WHOLE, project.environment)
        assert len(resolve(module, project, Options(), None).doubts) == doubts


WHOLE = "batch_size = 4\nblock_size = 64\ngradient_accumulation_steps = 8\n" + MODEL
