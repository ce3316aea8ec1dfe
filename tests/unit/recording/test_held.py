"""What is remembered of runs that were read is bounded, however many are typed."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any
from weakref import ref

from nanolint.recording import recording, symbolic_cache
from nanolint.script.reader import Reader
from tests.thorough.test_worked_out import BATCH, GPU, SCRIPT, forget, of, run_of, tape

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from nanolint.run.run import Run


def test_a_tape_holds_nothing_of_the_program_that_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget()
    readers: list[ref[Reader]] = []
    begin = Reader.__init__

    def noted(reader: Reader, *args: Any, **kwargs: Any) -> None:
        readers.append(ref(reader))
        begin(reader, *args, **kwargs)

    monkeypatch.setattr(Reader, "__init__", noted)
    run = run_of(tmp_path, SCRIPT.format(more="", batch=BATCH))
    assert run is not None
    found = tape(run)
    gc.collect()
    assert not isinstance(found, str)
    assert readers
    assert not any(reader() for reader in readers)


def read(folder: Path, width: int) -> Run:
    """A run of a model that is so wide, which is read for three micro-batches."""
    text = SCRIPT.format(more="", batch=BATCH).replace("512", str(width))
    run = run_of(folder / str(width), text)
    assert run is not None
    for batch_size in (8, 16, 24):
        assert not isinstance(tape(of(run, batch_size)), str)
    return run


def test_readings_of_all_families_are_bounded_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget()
    monkeypatch.setattr(symbolic_cache, "most_readings", 2)
    monkeypatch.setattr(symbolic_cache, "_lately", {})
    families = []
    for width in (512, 1024, 1536, 2048):
        run = read(tmp_path, width)
        kin = recording._recipe(run, GPU).kin
        assert kin is not None
        families.append(kin[0])
    assert len(set(families)) == 4
    # Two for other micro-batches, and two for one.
    assert [len(each.readings) for each in families] == [0, 0, 2, 2]
    for follows in (False, True):
        held = [each for kin in families for each in kin.readings]
        assert sum(each.follows_batch is follows for each in held) == 2


def test_families_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    monkeypatch.setattr(symbolic_cache, "most_families", 2)
    kin = [recording._recipe(read(tmp_path, width), GPU).kin for width in (512, 1024, 1536)]
    first, *others = [each[0] for each in kin if each]
    known = list(symbolic_cache._families.values())
    assert known == others and first not in known


def test_a_reading_that_is_forgotten_is_gone_without_a_look_for_garbage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget()
    monkeypatch.setattr(symbolic_cache, "most_readings", 1)
    monkeypatch.setattr(symbolic_cache, "_lately", {})
    readings: list[ref[symbolic_cache.SymbolicReading]] = []
    begin = symbolic_cache.SymbolicReading.__init__

    def noted(reading: symbolic_cache.SymbolicReading, *args: Any) -> None:
        readings.append(ref(reading))
        begin(reading, *args)

    monkeypatch.setattr(symbolic_cache.SymbolicReading, "__init__", noted)
    gc.disable()
    try:
        for width in (512, 1024, 1536):
            read(tmp_path, width)
        remembered = len(symbolic_cache._lately)
        assert sum(reading() is not None for reading in readings) == remembered < len(readings)
    finally:
        gc.enable()
