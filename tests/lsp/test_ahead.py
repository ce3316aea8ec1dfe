"""While nothing is typed, the runs are read that are likely to be typed next."""

from __future__ import annotations

import asyncio
import itertools
import re
import threading
from typing import TYPE_CHECKING

import pytest

from nanolint.lsp.ahead import Ahead
from nanolint.lsp.judging import judge_ahead
from nanolint.lsp.likely import (
    COUNTS,
    FRACTIONS,
    MICRO_BATCH,
    OTHERS,
    RATES,
    TRUTHS,
    likely_texts,
    micro_batches,
    sizes,
)
from nanolint.lsp.server import NanolintServer
from nanolint.lsp.session import Session
from nanolint.memory import recording
from nanolint.memory.turns import turn
from tests.support.project_tree import write_project
from tests.trainers.written_scripts import script

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
            for text in likely_texts(context)[what]:
                judge_ahead(text, self.path, plan)

    def read_ahead(self, ahead: Ahead) -> None:
        """Begin, and wait until nothing is read any more."""
        context, plan = self.document.context, self.session.plan_for(self.path)
        assert context is not None
        assert plan is not None
        ahead.begin(context, plan)
        ahead.wait()


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    return Editor(tmp_path, monkeypatch)


def test_what_was_read_ahead_is_typed_without_a_reading(editor: Editor) -> None:
    editor.read_ahead(Ahead())
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
    editor: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []

    def judged(text: str, *_: object) -> None:
        texts.append(text)

    monkeypatch.setattr("nanolint.lsp.ahead.judge_ahead", judged)
    sized = f"block_size = 64\n{CONFIG}"
    editor.session.change("a", sized)
    ahead = Ahead()
    editor.read_ahead(ahead)
    first = len(texts)
    assert first > 100
    editor.read_ahead(ahead)
    assert len(texts) == first
    editor.session.change("a", sized.replace("12", "16", 1))
    editor.read_ahead(ahead)
    again = texts[first:]  # contexts, for this micro-batch
    assert 0 < len(again) < 20
    assert all("batch_size = 16 " in each for each in again)
    editor.session.change("a", sized.replace("n_layer = 2", "n_layer = 3"))
    editor.read_ahead(ahead)
    assert len(texts) == 2 * first + len(again)


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

    monkeypatch.setattr("nanolint.lsp.ahead.judge_ahead", judged)
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
        "nanolint.lsp.ahead.likely_texts", lambda *_: {"": itertools.repeat(CONFIG)}
    )
    monkeypatch.setattr("nanolint.lsp.ahead.judge_ahead", judged)
    monkeypatch.setattr("nanolint.lsp.server.QUIET", 0.0)
    server = NanolintServer()
    server.session = editor.session
    server.read_ahead(editor.document)
    await asyncio.to_thread(begun.wait)
    server.shutdown()
    before = len(read)
    await asyncio.sleep(0.01)
    assert len(read) == before


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
    texts = list(likely_texts(context)[MICRO_BATCH])
    assert texts[0] == CONFIG.replace("12", "1", 1)
    assert CONFIG.replace("12", "120", 1) in texts[1:3]
    assert CONFIG not in texts
    assert len(set(texts)) == len(texts)


def test_one_keystroke_more_is_likelier_than_any_other_number() -> None:
    values = micro_batches(1)
    assert values[:10] == [10, 11, 12, 13, 14, 15, 16, 17, 18, 19]
    assert {2, 4, 8, 256, 512} <= set(values)
    assert 0 not in values
    assert 1 not in values


def test_it_goes_on_with_the_number_that_was_typed_last(editor: Editor) -> None:
    editor.session.change("a", CONFIG.replace("64", "128"))
    context = editor.document.context
    assert context is not None
    found = likely_texts(context, editor.document.typed)
    assert list(found)[:2] == [COUNTS, "n_embd"]
    assert next(iter(found["n_embd"])) == CONFIG.replace("64", "12")
    assert CONFIG.replace("64", "256") in found["n_embd"]
    editor.session.change("a", CONFIG.replace("12", "16", 1))
    assert "n_embd" not in likely_texts(context, editor.document.typed)


def test_a_context_is_read_ahead_after_the_micro_batch(editor: Editor) -> None:
    text = f"block_size = 1024\n{CONFIG}"
    editor.session.change("a", text)
    context = editor.document.context
    assert context is not None
    found = likely_texts(context)
    order = list(found)
    assert order.index(MICRO_BATCH) < order.index("block_size") < order.index(OTHERS)
    assert text.replace("1024", "2048") in found["block_size"]


@pytest.mark.parametrize(
    ("written", "others"), [("0.2", ["0.0"]), ("0", ["0.1", "0.2"]), ("0.0", ["0.1", "0.2"])]
)
def test_a_model_is_read_ahead_without_dropout_or_with_it(
    editor: Editor, written: str, others: list[str]
) -> None:
    text = f"dropout = {written}\n{CONFIG}"
    editor.session.change("a", text)
    context = editor.document.context
    assert context is not None
    found = list(likely_texts(context)[RATES])
    assert found == [text.replace(written, other, 1) for other in others]


def test_a_number_is_typed_digit_by_digit() -> None:
    typed = sizes(1024)
    assert typed[:3] == [102, 10, 1]
    assert {5, 51, 512, 2, 20, 204, 2048, 25, 256, 4, 40, 409, 4096} <= set(typed)
    assert not {0, 1024} & set(typed)


def test_another_context_that_was_read_ahead_is_typed_without_a_reading(editor: Editor) -> None:
    text = f"block_size = 64\n{CONFIG}"
    editor.session.change("a", text)
    assert editor.document.judged is not None
    editor.read_ahead(Ahead())
    before = editor.readings
    for typed in ("6", "1", "12", "128"):
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
    assert next(likely_texts(context)[COUNTS]) == twice
    editor.read_likely(COUNTS, "max_iters", "lr_decay_iters", "eval_interval")
    before = editor.readings
    for key, values in (
        ("max_iters", (600, 60, 6, 5, 50, 500, 5000)),
        ("lr_decay_iters", (600, 60, 6, 1, 10, 100)),
        ("eval_interval", (50, 1, 10, 100)),
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
    assert list(likely_texts(context)[TRUTHS]) == [text.replace("True", "False")]
    editor.read_likely(TRUTHS, "gradient_accumulation_steps")
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
    assert list(likely_texts(context)[MICRO_BATCH]) == []


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
    assert list(likely_texts(context)[FRACTIONS]) == [
        text.replace("1e-4", "1"),
        text.replace("0.1", "0"),
    ]
    editor.read_likely(FRACTIONS)
    before = editor.readings
    for typed in ("1e-", "1e", "1"):
        editor.session.change("a", text.replace("1e-4", typed))
        assert editor.document.judged is not None
    assert editor.readings == before


def test_what_counts_is_read_ahead_again_once_there_are_other_passes(editor: Editor) -> None:
    text = f"{CONFIG}gradient_accumulation_steps = 40\nmax_iters = 6000\neval_interval = 1000\n"
    editor.session.change("a", text)
    ahead = Ahead()
    editor.read_ahead(ahead)
    text = text.replace("40", "8")
    editor.session.change("a", text)
    assert editor.document.judged is not None
    editor.read_ahead(ahead)
    before = editor.readings
    for typed in ("600", "60", "6", "1", "10", "100"):
        editor.session.change("a", text.replace("6000", typed))
        assert editor.document.judged is not None
    assert editor.readings == before
