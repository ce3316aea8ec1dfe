"""Who types waits for no judgement: others are served meanwhile, and a stale one is given up."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.lsp.completion import complete
from nanolint.lsp.judgements import Judgements
from nanolint.lsp.judging import judge_text
from nanolint.lsp.session import Session
from nanolint.tape.reading_lock import turn
from tests.editors.test_message_loop import CONFIG, EVERYWHERE, opened
from tests.support.kept import PATIENCE
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.lsp.judging import Judged
    from nanolint.lsp.session import Document

JUDGES, COMPLETES = "nanolint.lsp.session.judge_text", "nanolint.lsp.features.complete"


def document_of(root: Path, tell: Any = pytest.fail) -> tuple[Session, Document]:
    path = write_project(root, {"config/a.py": CONFIG}) / "config" / "a.py"
    opened_in = Session({}, tell)
    opened_in.set_target("rtx-3060")
    opened_in.open("a", path, CONFIG, is_python=True)
    document = opened_in.document("a")
    assert document is not None
    return opened_in, document


def test_what_needs_no_judgement_is_answered_before_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    completed = threading.Event()

    def told(*given: Any, **named: Any) -> Any:
        completed.set()
        return complete(*given, **named)

    def judged(*given: Any) -> Judged:
        assert completed.wait(PATIENCE)
        return judge_text(*given)

    monkeypatch.setattr(COMPLETES, told)
    monkeypatch.setattr(JUDGES, judged)
    root = write_project(tmp_path, {"config/a.py": CONFIG, "nanolint.toml": 'gpu = "rtx-3060"\n'})
    talk, document = opened(root)
    about: dict[str, Any] = {"textDocument": document, "range": EVERYWHERE}
    hints = talk.ask("textDocument/inlayHint", at_once=True, **about)
    below = {"line": 4, "character": 0}
    keys = talk.ask("textDocument/completion", textDocument=document, position=below)
    results, _ = talk.answers()
    assert results[keys]["items"]
    assert results[hints][0]["label"].endswith("out of memory")
    answered = list(results)
    assert answered.index(keys) < answered.index(hints)


@pytest.mark.asyncio
async def test_a_stale_judgement_is_given_up_for_that_of_the_newer_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = threading.Event(), []

    def judged(text: str, *given: Any) -> Judged:
        if text == CONFIG:
            begun.set()
            while True:
                with turn():  # raises once the text is stale
                    pass
        ended.append(text)
        return judge_text(text, *given)

    monkeypatch.setattr(JUDGES, judged)
    opened_in, document = document_of(tmp_path)
    judgements = Judgements(opened_in)
    asked = asyncio.ensure_future(judgements.settle(document))
    await asyncio.to_thread(begun.wait)
    newer = CONFIG.replace("16", "1")
    opened_in.change("a", newer)
    await asyncio.gather(asked, judgements.settle(document))
    assert document.current is not None
    assert document.current.text == newer
    assert ended == [newer]


@pytest.mark.asyncio
async def test_a_document_is_judged_once_for_all_who_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []

    def judged(text: str, *given: Any) -> Judged:
        texts.append(text)
        return judge_text(text, *given)

    monkeypatch.setattr(JUDGES, judged)
    opened_in, document = document_of(tmp_path)
    judgements = Judgements(opened_in)
    await asyncio.gather(*(judgements.settle(document) for _ in range(5)))
    assert texts == [CONFIG]


@pytest.mark.asyncio
async def test_who_turns_away_takes_the_judgement_from_nobody(tmp_path: Path) -> None:
    opened_in, document = document_of(tmp_path)
    judgements = Judgements(opened_in)
    first, second = (asyncio.ensure_future(judgements.settle(document)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await second
    assert first.cancelled()
    assert document.current is not None


@pytest.mark.asyncio
async def test_a_bug_is_told_and_nobody_waits_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> Judged:
        raise ZeroDivisionError("as if")

    told: list[str] = []
    monkeypatch.setattr(JUDGES, broken)
    opened_in, document = document_of(tmp_path, told.append)
    await Judgements(opened_in).settle(document)
    assert document.current is None
    assert told == ["nanolint: internal error: ZeroDivisionError: as if"]


@pytest.mark.asyncio
async def test_nobody_waits_for_a_document_that_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = threading.Event()

    def judged(*given: Any) -> Judged:
        assert closed.wait(PATIENCE)
        return judge_text(*given)

    monkeypatch.setattr(JUDGES, judged)
    opened_in, document = document_of(tmp_path)
    waiting = asyncio.ensure_future(Judgements(opened_in).settle(document))
    await asyncio.sleep(0)
    opened_in.close("a")
    closed.set()
    await waiting
