"""What is said below the findings of what was checked, doubted and not checked."""

from __future__ import annotations

import io

import pytest

from nanolint.linting.judged import Brief, JudgedRun
from nanolint.report import runs
from nanolint.report.printer import Printer
from nanolint.report.results import FileResult

FITS = JudgedRun("RTX 4070", True, "exact")
DOUBTED = JudgedRun("RTX 4070", True, "doubted", ("the context is not known",))
UNKNOWN = JudgedRun("RTX 4070", None, "unknown", ("not known before the run: batch_size",))
NO_CARD = JudgedRun(None, None, "exact")
STOPS = JudgedRun("RTX 4070", False, "unknown")
ON_CPU = JudgedRun(None, True, "exact")
SCRIPT = FileResult("model.py")


def written(*files: FileResult, verbose: bool = False) -> str:
    out = io.StringIO()
    runs.render(files, Printer(out), verbose=verbose)
    return out.getvalue()


def holding(*found: JudgedRun) -> FileResult:
    return FileResult("config/a.py", runs=found)


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ([holding(FITS)], ""),
        ([holding(FITS), holding(FITS)], "2 runs checked for RTX 4070."),
        ([holding(DOUBTED)], "1 run checked for RTX 4070, doubted."),
        ([holding(DOUBTED)] * 2, "2 runs checked for RTX 4070, all doubted."),
        ([holding(ON_CPU)], ""),
        (
            [holding(ON_CPU), holding(NO_CARD), SCRIPT],
            "2 runs checked without a card; 1 file holds no run.",
        ),
        ([holding(NO_CARD)], ""),
        ([holding(STOPS), holding(FITS)], "2 runs checked for RTX 4070."),
        (
            [holding(FITS), holding(DOUBTED), holding(UNKNOWN), SCRIPT],
            "2 runs checked for RTX 4070, 1 of them doubted; 1 not checked; 1 file holds no run.",
        ),
        ([holding(FITS, JudgedRun("T4", False, "exact")), SCRIPT, SCRIPT],
         "1 run checked for RTX 4070, T4; 2 files hold no run."),
        ([SCRIPT], "No run was checked: 1 file holds no run; name a file to see why."),
        ([], "No run was checked."),
    ],
)  # fmt: skip
def test_the_last_line(files: list[FileResult], line: str) -> None:
    said = written(*files).splitlines()
    assert (said[-1] if said else "") == line


def test_nothing_where_nobody_asked_about_memory() -> None:
    assert written(holding(JudgedRun("RTX 4070", None, "exact")), SCRIPT) == ""


def test_a_run_that_no_finding_speaks_of_is_said_to_be_unknown() -> None:
    assert written(holding(UNKNOWN)) == (
        "Not checked: config/a.py: not known before the run: batch_size\n1 run not checked.\n"
    )


def test_many_reasons_are_cut_short() -> None:
    files = [FileResult(f"{name}.py", no_run="trains nothing", named=True) for name in "abcde"]
    said = written(*files).splitlines()
    assert said[2:] == [
        "No run in c.py: trains nothing",
        "2 more files like these (-v lists them)",
        "No run was checked.",
    ]
    assert "No run in e.py: trains nothing\n" in written(*files, verbose=True)


@pytest.mark.parametrize(
    ("why", "told"),
    [
        ("its batch is not known", "its batch is not known; `nanolint trace -- python t.py ...`"),
        ("not known: --set depth=20 (a.py:3)", "needs --set depth=20: not known: --set depth=20"),
    ],
)
def test_what_trains_and_is_not_known_is_counted_with_what_settles_it(why: str, told: str) -> None:
    trainer = FileResult("t.py", no_run=why, trains=True)
    assert f"Not checked: t.py: {told}" in written(trainer, SCRIPT)
    assert written(trainer, holding(FITS)).endswith("1 run checked for RTX 4070; 1 not checked.\n")


def table(width: int | None, *names: str) -> list[str]:
    brief = Brief("", "does not fit", "35.5 GiB", "14.6 GiB", "12.7 to spare")
    run = JudgedRun("T4", False, "exact", brief=brief)
    stream = io.StringIO()
    files = [FileResult(name, runs=(run,)) for name in names]
    runs.answers(files, Printer(stream, width=width))
    return stream.getvalue().splitlines()


def test_the_verdicts_of_a_card_stand_below_its_size_in_columns() -> None:
    assert table(80, "config/train_shakespeare_char.py", "a.py") == [
        "T4 (14.6 GiB)",
        "  config/train_shakespeare_char.py  does not fit  35.5 GiB  12.7 to spare",
        "  a.py                              does not fit  35.5 GiB  12.7 to spare",
    ]


def test_a_name_too_long_for_the_terminal_has_a_line_to_itself() -> None:
    name = "experiments/2026-11/sweep/" + "very_" * 8 + "long.py"
    head, alone, *rows = table(80, name, "a.py")
    assert (head, alone) == ("T4 (14.6 GiB)", f"  {name}")
    assert len({row.index("does") for row in rows}) == 1
    assert max(map(len, rows)) <= 80
    assert len(table(None, name, "a.py")) == 3


def test_reasons_stay_within_a_terminal() -> None:
    out = io.StringIO()
    why = "its batch is not known: " + "an item that only the run knows " * 4
    files = [FileResult("scripts/chat_sft.py", no_run=why.strip(), named=True)]
    runs.render(files, Printer(out, width=80))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("No run in scripts/chat_sft.py: its batch is not known: an item")
    assert " ".join(" ".join(lines).split()).count("an item that only the run knows") == 4
