"""A reading that one command has kept is the next one's: the same events, and of no other run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.files import cache
from nanolint.gpus.lookup import find
from nanolint.interpreter.values import Place, Unread
from nanolint.recording import kept, recording, symbolic_cache, tape_answers
from nanolint.run.program import ReadScript, SourceText
from nanolint.run.stop import Cause, Line, Stop
from nanolint.tape.located import Located
from nanolint.trainers.nanogpt.own import own_script
from nanolint.trainers.nanogpt.resolve import default_run
from nanolint.verdict.lines import holding
from nanolint.verdict.replay import failure, replay

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.recording.tape_answers import TapeAnswers
    from nanolint.run.run import Run
    from nanolint.tape.tape import Tape

OWN = default_run().having(
    batch_size=4, gradient_accumulation_steps=2, n_layer=2, n_head=2, n_embd=64, block_size=64,
    vocab_size=100,
)  # fmt: skip
SCRIPT = replace(OWN, program=own_script())
GPU = find("rtx-4090").gpu
FIELDS = (
    "events", "sizes", "names", "components", "phases", "doubts", "above", "assumed", "flops",
    "steps", "printed",
)  # fmt: skip


@pytest.fixture(autouse=True)
def kept_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_build", lambda: "one build")
    tape_answers._of_any_card.cache_clear()


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a new process, in which nothing can be read."""

    def refuse(*_: object) -> None:
        raise AssertionError("it was read again")

    tape_answers._of_any_card.cache_clear()
    symbolic_cache._families.clear()
    recording._unfiled.clear()
    monkeypatch.setattr(recording._Recipe, "record", refuse)


def same(one: TapeAnswers[Tape], other: TapeAnswers[Tape]) -> bool:
    fields = [*FIELDS, *(["wheres"] if isinstance(one.tape, Located) else [])]
    return type(one.tape) is type(other.tape) and all(
        getattr(one.tape, each) == getattr(other.tape, each) for each in fields
    )


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("run", [OWN, SCRIPT], ids=["nanoGPT's own", "a script"])
def test_the_next_command_reads_nothing(
    run: Run, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = replace(run, compile=compiled)
    before = recording.recorded(run, GPU)
    forget(monkeypatch)
    assert same(before, recording.recorded(run, GPU))


@pytest.mark.parametrize(
    "other",
    [
        replace(SCRIPT, batch_size=5),
        replace(SCRIPT, compile=not SCRIPT.compile),
        replace(SCRIPT, torch=(2, 6)),
        OWN,
    ],
    ids=["micro-batch", "compile", "release", "program"],
)
def test_another_run_is_read(other: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    recording.recorded(SCRIPT, GPU)
    forget(monkeypatch)
    with pytest.raises(AssertionError, match="read again"):
        recording.recorded(other, GPU)


def test_another_text_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    recording.recorded(SCRIPT, GPU)
    program = own_script()
    first, *rest = program.modules
    edited = replace(program, modules=(replace(first, text=f"{first.text}\n"), *rest))
    forget(monkeypatch)
    with pytest.raises(AssertionError, match="read again"):
        recording.recorded(replace(SCRIPT, program=edited), GPU)


def test_a_card_that_may_answer_otherwise_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    recording.recorded(SCRIPT, GPU)
    forget(monkeypatch)
    recording.recorded(SCRIPT, GPU)  # so that it is known what was kept, and not what was asked
    with pytest.raises(AssertionError, match="read again"):
        recording.recorded(SCRIPT, find("rtx-4060").gpu)


def test_why_a_script_cannot_be_read_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    source = SourceText("__main__", "train.py", "import torch\ntorch.no_such_thing(3)\n")
    run = replace(OWN, program=ReadScript((source,)))
    with pytest.raises(Unread) as first:
        recording.recorded(run, GPU)
    forget(monkeypatch)
    with pytest.raises(Unread) as again:
        recording.recorded(run, GPU)
    assert str(again.value) == str(first.value) and again.value.place == Place("train.py", 2)


STOP = Stop(Cause.NAME, "KeyError", "'a'", "in step 1", (Line("train.py", 3, "print(a['a'])"),))


@pytest.mark.parametrize("stop", [None, STOP])
def test_an_unread_keeps_what_is_known_of_it(stop: Stop | None) -> None:
    error = Unread("a reason \udc80", Place("train.py", 3))
    error.stop, error.decided = stop, stop is not None
    found = kept.read(kept.written(error))
    assert isinstance(found, Unread)
    assert (found.stop, found.decided) == (error.stop, error.decided)
    assert (str(found), found.place) == (str(error), error.place)


def test_a_key_that_does_not_tell_all_keeps_nothing() -> None:
    error = Unread("a reason", Place("train.py", 3))
    for key in (f"Run({object()})", "Run(3)"):
        kept.keep(key, error)
        assert (kept.find(key) is None) is ("object" in key)


def refuse_tapes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a new process, which finds answers and no tape."""
    forget(monkeypatch)
    for path in paths():
        if not path.read_bytes().startswith(b"\n"):  # which a file of answers does
            path.unlink()


def paths() -> list[Path]:
    place = cache.folder()
    assert place is not None
    return [each for each in place.rglob("*") if each.is_file()]


@pytest.mark.parametrize("room", [1.0, 0.7], ids=["it fits", "it does not"])
@pytest.mark.parametrize("run", [OWN, SCRIPT], ids=["nanoGPT's own", "a script"])
def test_what_was_answered_needs_no_tape(
    run: Run, room: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked() -> tuple[object, ...]:
        free = replay(run, GPU)
        limit = int(free.peak.reserved_bytes * room)
        limited = replay(run, GPU, limit_bytes=limit)
        held = holding(run, GPU, limit, expandable=False)
        return free, limited, failure(run, GPU, limit), held, recording.recorded(run, GPU).said

    before = asked()
    assert (before[2] is None) is (room == 1.0)
    refuse_tapes(monkeypatch)
    assert asked() == before


def test_another_question_makes_the_tape_again(monkeypatch: pytest.MonkeyPatch) -> None:
    peak = replay(SCRIPT, GPU).peak
    refuse_tapes(monkeypatch)
    with pytest.raises(AssertionError, match="read again"):
        replay(SCRIPT, GPU, limit_bytes=peak.reserved_bytes // 2)


def test_a_damaged_answer_is_worked_out_again() -> None:
    peak = replay(SCRIPT, GPU).peak
    (path,) = (each for each in paths() if each.read_bytes().startswith(b"\n"))
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole.replace(b"peak", b"Peak"), b"\xff" + whole[1:], b"", b"\n"):
        path.write_bytes(damaged)
        tape_answers._of_any_card.cache_clear()
        assert replay(SCRIPT, GPU).peak == peak


def test_what_is_kept_later_is_the_next_command_s(monkeypatch: pytest.MonkeyPatch) -> None:
    with kept.later():
        before = [recording.recorded(replace(OWN, batch_size=each), GPU) for each in (1, 2)]
    assert not any(kept.has(each) for each in names())
    kept.keep_waiting()
    forget(monkeypatch)
    after = [recording.recorded(replace(OWN, batch_size=each), GPU) for each in (1, 2)]
    assert all(map(same, before, after))


def names() -> list[str]:
    return [str(recording._recipe(replace(OWN, batch_size=each), GPU).name) for each in (1, 2)]


def test_what_is_too_much_to_wait_is_kept_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_WAITING", 1)
    with kept.later():
        for each in (1, 2):
            recording.recorded(replace(OWN, batch_size=each), GPU)
    assert [kept.has(each) for each in names()] == [True, False]
    kept.keep_waiting()
