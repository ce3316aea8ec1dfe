"""While nothing is typed, the runs are read that are likely to be typed next."""

from __future__ import annotations

import asyncio
import itertools
import re
import threading
from typing import TYPE_CHECKING

import pytest

from nanolint.lsp.judging import judge_ahead
from nanolint.lsp.next_edits import FOLLOWED, OTHERS, Likely, likely_texts, micro_batches, sizes
from nanolint.lsp.prefetch import Ahead
from nanolint.lsp.server import NanolintServer
from nanolint.lsp.session import Session
from nanolint.recording import recording
from nanolint.tape.reading_lock import turn
from tests.support.project_tree import write_project
from tests.unit.trainers.written_scripts import script

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.lsp.session import Document
    from nanolint.rule.context import Context

CONFIG = "batch_size = 12  # a card's worth\nn_layer = 2\nn_head = 2\nn_embd = 64\n"


class Editor:
    """A config that is open, with its readings counted."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.readings = 0
        write = recording._Recipe.write

        def counted(*given: object) -> None:
            self.readings += 1
            write(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(recording._Recipe, "write", counted)
        self._monkeypatch = monkeypatch
        self.path = write_project(root, {"config/a.py": CONFIG}) / "config" / "a.py"
        self.session = Session({}, pytest.fail)
        self.session.set_target("rtx-4090")
        self.session.open("a", self.path, CONFIG, is_python=True)

    @property
    def document(self) -> Document:
        found = self.session.document("a")
        assert found is not None
        return found

    def read_likely(self, *whats: str) -> None:
        """Read ahead those texts alone that are likely for one cause or another."""
        context, plan = self.document.context, self.session.plan_for(self.path)
        assert context is not None
        assert plan is not None
        for what in whats:
            for text in likely_texts(context)[what].texts:
                judge_ahead(text, self.path, plan)

    def read_ahead(self, ahead: Ahead, *whats: str) -> None:
        """Begin, and wait until nothing is read any more: the likeliest of these, as all that is
        likely takes minutes."""

        def some(context: Context, typed: int | None = None) -> dict[str, Likely]:
            found = likely_texts(context, typed)
            if not whats:
                return found
            return {each: Likely(itertools.islice(found[each].texts, 40)) for each in whats}

        self._monkeypatch.setattr("nanolint.lsp.prefetch.likely_texts", some)
        context, plan = self.document.context, self.session.plan_for(self.path)
        assert context is not None
        assert plan is not None
        ahead.begin(context, plan)
        ahead.wait()


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    return Editor(tmp_path, monkeypatch)


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is read ahead from now on, none of which is read."""
    found: list[str] = []
    monkeypatch.setattr("nanolint.lsp.prefetch.judge_ahead", lambda text, *_: found.append(text))
    return found


def test_what_was_read_ahead_is_typed_without_a_reading(editor: Editor) -> None:
    editor.read_ahead(Ahead(), "batch_size = 12")
    before = editor.readings
    for typed in ("1", "16", "1", "12", "128"):
        editor.session.change("a", CONFIG.replace("12", typed, 1))
        judged = editor.document.judged
        assert judged is not None
        assert judged.context is not None
        assert judged.context.run is not None
        assert judged.context.run.batch_size == int(typed)
        assert judged.context.cases[0].verdict is not None
    assert editor.readings == before


def test_it_is_read_ahead_once_for_runs_that_differ_in_the_micro_batch_alone(
    editor: Editor, texts: list[str]
) -> None:
    sized = f"block_size = 64\n{CONFIG}"
    editor.session.change("a", sized)
    ahead = Ahead()
    editor.read_ahead(ahead)
    first = len(texts)
    assert first > 100
    editor.read_ahead(ahead)
    again = texts[first:]  # what comes first
    assert 0 < len(again) < first / 2
    assert all("n_layer = 2" in each for each in again)
    editor.session.change("a", sized.replace("12", "16", 1))
    texts.clear()
    editor.read_ahead(ahead)
    others = [each for each in texts if "batch_size = 16 " not in each]
    assert others[0] == sized.replace("12", "1", 1)
    assert len(others) < first / 2
    editor.session.change("a", sized.replace("n_layer = 2", "n_layer = 3"))
    texts.clear()
    editor.read_ahead(ahead)
    assert len(texts) > 100


def test_it_ends_before_its_next_reading_once_somebody_types(
    editor: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = Ahead()
    began = 0

    def judged(*_: object) -> None:
        nonlocal began
        began += 1
        with turn():
            ahead.give_way()
        with turn():
            pytest.fail("read on")

    monkeypatch.setattr("nanolint.lsp.prefetch.judge_ahead", judged)
    editor.read_ahead(ahead)
    assert began == 1
    editor.read_ahead(ahead)  # it was not read to its end, and is begun again
    assert began == 2


@pytest.mark.asyncio
async def test_it_ends_with_the_server(editor: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, read = threading.Event(), []

    def judged(text: str, *_: object) -> None:
        with turn():
            begun.set()
            read.append(text)

    monkeypatch.setattr(
        "nanolint.lsp.prefetch.likely_texts", lambda *_: {"": Likely(itertools.repeat(CONFIG))}
    )
    monkeypatch.setattr("nanolint.lsp.prefetch.judge_ahead", judged)
    monkeypatch.setattr("nanolint.lsp.server.QUIET", 0.0)
    server = NanolintServer()
    server.session = editor.session
    server.read_ahead(editor.document)
    await asyncio.to_thread(begun.wait)
    server.shutdown()
    before = len(read)
    await asyncio.sleep(0.01)
    assert len(read) == before


@pytest.mark.asyncio
async def test_it_rests_while_somebody_waits_and_goes_on(
    editor: Editor, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "nanolint.lsp.prefetch.likely_texts", lambda *_: {"": Likely(map(str, itertools.count()))}
    )
    monkeypatch.setattr("nanolint.lsp.server.QUIET", 3600)
    monkeypatch.setattr("nanolint.lsp.server.BREATH", 0)
    server = NanolintServer()
    server.session = editor.session
    await server._begin(editor.document)
    editor.session.change("a", CONFIG.replace("worth", "number"))
    server.read_ahead(editor.document)
    await asyncio.sleep(0.05)
    before = len(texts)
    await asyncio.sleep(0.05)
    assert len(texts) == before
    assert editor.document.judged is not None
    await server.judged(editor.document)
    while len(texts) == before:
        await asyncio.sleep(0.001)
    server._ahead.end()
    assert texts == [str(number) for number in range(len(texts))]  # from where it was


def test_fixes_of_other_files_are_tried_ahead_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = script(
        'import yaml\nB, T = yaml.safe_load(open("sizes.yaml"))["rows"], 512\n'
        "assert 2**15 % (B * T) == 0\npasses = 2**15 // (B * T)\n"
    )
    files = {"train.py": text, "sizes.yaml": "rows: 24\n"}
    path = write_project(tmp_path, files) / "train.py"
    session = Session({}, pytest.fail)
    session.set_target("rtx-3060")
    session.open("a", path, text, is_python=True)
    document, plan = session.document("a"), session.plan_for(path)
    assert document is not None
    assert plan is not None
    judge_ahead(text, path, plan)
    monkeypatch.setattr(recording._Recipe, "write", lambda *_: pytest.fail("read"))
    assert document.judged is not None
    assert any(each.fix and each.fix.elsewhere for each in document.judged.diagnostics)


def test_only_the_number_differs_in_a_likely_text(editor: Editor) -> None:
    context = editor.document.context
    assert context is not None
    texts = list(likely_texts(context)["batch_size = 12"].texts)
    assert texts[0] == CONFIG.replace("12", "1", 1)
    assert CONFIG.replace("12", "8", 1) in texts[1:3]
    assert CONFIG not in texts
    assert len(set(texts)) == len(texts)


def test_numbers_that_people_choose_are_likelier_than_one_keystroke_more() -> None:
    values = micro_batches(4)
    assert values[:2] == [2, 8]
    assert {1, 3, 6, 32, 256, 512} | set(range(40, 50)) <= set(values)
    assert values.index(16) < values.index(41)
    assert 0 not in values
    assert 4 not in values


def test_it_goes_down_from_where_somebody_typed_last(editor: Editor) -> None:
    editor.session.change("a", CONFIG.replace("n_layer = 2", "n_layer = 3"))
    context = editor.document.context
    assert context is not None
    found = likely_texts(context, editor.document.typed)
    assert list(found) == [
        FOLLOWED,
        "n_head = 2",
        "n_embd = 64",
        "batch_size = 12",
        "n_layer = 3",
        OTHERS,
    ]
    (first, *_) = found["n_head = 2"].texts
    assert first == context.text.replace("n_head = 2", "n_head = 1")
    assert context.text.replace("64", "128") in found["n_embd = 64"].texts


def test_what_does_not_fit_is_likely_to_be_typed_again(editor: Editor) -> None:
    editor.session.change("a", CONFIG.replace("12", "8192", 1))
    context = editor.document.context
    assert context is not None
    found = likely_texts(context, editor.document.typed)
    assert list(found)[:3] == [FOLLOWED, "n_layer = 2", "batch_size = 8192"]
    assert context.text.replace("8192", "4096") in found["batch_size = 8192"].texts


def test_each_value_has_its_turn_before_all_of_one_is_read(
    editor: Editor, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nanolint.lsp.prefetch.A_FEW", (1, 0.0))
    monkeypatch.setattr("nanolint.lsp.prefetch.MANY", (1, 0.0))
    editor.read_ahead(Ahead())
    first = [("batch_size = 1 ", 1), ("n_layer = 2", 0), ("n_head = 2", 0)]
    places = [[part in each for each in texts].index(bool(there)) for part, there in first]
    assert places == sorted(places)
    assert sum("batch_size = 12 " not in each for each in texts[: places[-1]]) < 4


def test_what_is_left_of_each_value_comes_before_others_of_one(
    editor: Editor, texts: list[str]
) -> None:
    editor.session.change("a", f"{CONFIG}learning_rate = 1e-4\n")
    editor.read_ahead(Ahead())
    sure = [number for number, each in enumerate(texts) if "learning_rate = 1\n" in each]
    other = [number for number, each in enumerate(texts) if "n_head = 4" in each]
    assert sure
    assert sure[0] < other[0]


@pytest.mark.parametrize(
    ("written", "others"),
    [("0.2", ["0.", "0"]), ("0", ["0.1", "0.2"]), ("0.0", ["0", "0.1", "0.2"])],
)
def test_a_model_is_read_ahead_without_dropout_or_with_it(
    editor: Editor, written: str, others: list[str]
) -> None:
    text = f"dropout = {written}\n{CONFIG}"
    editor.session.change("a", text)
    context = editor.document.context
    assert context is not None
    found = list(likely_texts(context)[f"dropout = {written}"].texts)
    assert found == [text.replace(written, other, 1) for other in others]


def test_a_number_is_typed_digit_by_digit() -> None:
    typed = sizes(1024)
    assert typed[:6] == [102, 10, 1, 5, 51, 512]
    assert {5, 51, 512, 2, 20, 204, 2048, 25, 256, 4, 40, 409, 4096} <= set(typed)
    assert not {0, 1024} & set(typed)


def test_another_context_that_was_read_ahead_is_typed_without_a_reading(editor: Editor) -> None:
    text = f"block_size = 64\n{CONFIG}"
    editor.session.change("a", text)
    assert editor.document.judged is not None
    editor.read_ahead(Ahead(), "block_size = 64")
    before = editor.readings
    for typed in ("6", "12", "128"):
        editor.session.change("a", text.replace("64", typed, 1))
        judged = editor.document.judged
        assert judged is not None
        assert judged.context is not None
        assert judged.context.run is not None
        assert judged.context.run.block_size == int(typed)
    assert editor.readings == before


def test_what_counts_is_typed_without_a_reading_whichever_it_is(editor: Editor) -> None:
    text = f"{CONFIG}max_iters = 6000\nlr_decay_iters = 6000\neval_interval = 500\n"
    editor.session.change("a", text)
    assert editor.document.judged is not None
    context = editor.document.context
    assert context is not None
    twice = text.replace("6000", "12000").replace("500", "1000")
    assert list(likely_texts(context)[FOLLOWED].texts) == [twice]
    editor.read_likely(FOLLOWED, "max_iters = 6000", "lr_decay_iters = 6000", "eval_interval = 500")
    before = editor.readings
    for key, values in (
        ("max_iters", (600, 60, 6, 5, 50, 500, 5000)),
        ("lr_decay_iters", (600, 60, 6, 1, 10, 100)),
        ("eval_interval", (50, 1)),  # another first evaluation is read
    ):
        for value in values:
            editor.session.change("a", re.sub(rf"{key} = \d+", f"{key} = {value}", text))
            assert editor.document.judged is not None
    assert editor.readings == before


def test_the_other_truth_value_and_another_accumulation_are_typed_without_a_reading(
    editor: Editor,
) -> None:
    text = f"{CONFIG}compile = True\ngradient_accumulation_steps = 5 * 8\n"
    editor.session.change("a", text)
    context = editor.document.context
    assert context is not None
    assert list(likely_texts(context)["compile = True"].texts) == [text.replace("True", "False")]
    editor.read_likely("compile = True", "gradient_accumulation_steps = 5 * 8")
    before = editor.readings
    for typed in ("5", "1", "16", "1", "12", "4 * 4"):
        editor.session.change("a", text.replace("5 * 8", typed))
        assert editor.document.judged is not None
    editor.session.change("a", text.replace("True", "False"))
    assert editor.document.judged is not None
    assert editor.readings == before


def test_nothing_is_read_ahead_of_a_text_that_sets_no_number(editor: Editor) -> None:
    editor.session.change("a", CONFIG.replace("12", "3 * 4", 1))
    context = editor.document.context
    assert context is not None
    assert "batch_size = 3 * 4" not in likely_texts(context)


@pytest.mark.asyncio
async def test_it_begins_once_a_document_was_left_alone(
    editor: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: asyncio.Queue[str] = asyncio.Queue()

    def begin(_: Ahead, context: Context, *_others: object) -> None:
        begun.put_nowait(context.text)

    monkeypatch.setattr(Ahead, "begin", begin)
    monkeypatch.setattr("nanolint.lsp.server.QUIET", 0.0)
    server = NanolintServer()
    server.session = editor.session
    server.read_ahead(editor.document)
    editor.session.change("a", CONFIG.replace("12", "16", 1))
    server.read_ahead(editor.document)
    assert await begun.get() == CONFIG.replace("12", "16", 1)
    server.take_wishes({"nanolint": {"readAhead": False}})
    server.read_ahead(editor.document)
    server.take_wishes({"nanolint": {"readAhead": True}})
    editor.session.change("a", CONFIG.replace("12", "24", 1))
    server.read_ahead(editor.document)
    assert await begun.get() == CONFIG.replace("12", "24", 1)
    assert begun.empty()


def test_a_fraction_is_taken_away_without_a_reading(editor: Editor) -> None:
    text = f"{CONFIG}learning_rate = 1e-4\nweight_decay = 0.1\n"
    editor.session.change("a", text)
    assert editor.document.judged is not None
    context = editor.document.context
    assert context is not None
    found = likely_texts(context)
    assert next(iter(found["learning_rate = 1e-4"].texts)) == text.replace("1e-4", "1")
    assert next(iter(found["weight_decay = 0.1"].texts)) == text.replace("0.1", "0")
    editor.read_likely("learning_rate = 1e-4")
    before = editor.readings
    for typed in ("1e-", "1e", "1", "0", "3", "3e-4"):
        editor.session.change("a", text.replace("1e-4", typed))
        assert editor.document.judged is not None
    assert editor.readings == before


def test_it_is_shown_once_that_a_number_in_the_place_of_a_fraction_is_followed(
    editor: Editor,
) -> None:
    text = f"{CONFIG}learning_rate = 1e-4\neval_interval = 250\nmax_iters = 6000\n"
    editor.session.change("a", text)
    assert editor.document.judged is not None
    editor.read_likely(FOLLOWED, "learning_rate = 1e-4")
    before = editor.readings
    for typed in ("1", "0", "3"):
        other = text.replace("1e-4", typed)
        editor.session.change("a", other)
        assert editor.document.judged is not None
    assert editor.readings == before


def test_what_counts_is_read_ahead_again_once_there_are_other_passes(editor: Editor) -> None:
    text = f"{CONFIG}gradient_accumulation_steps = 40\nmax_iters = 6000\neval_interval = 1000\n"
    editor.session.change("a", text)
    ahead = Ahead()
    editor.read_ahead(ahead, FOLLOWED, "max_iters = 6000")
    text = text.replace("40", "8")
    editor.session.change("a", text)
    assert editor.document.judged is not None
    editor.read_ahead(ahead, FOLLOWED, "max_iters = 6000")
    before = editor.readings
    for typed in ("600", "60", "6", "1", "10", "100"):
        editor.session.change("a", text.replace("6000", typed))
        assert editor.document.judged is not None
    assert editor.readings == before
