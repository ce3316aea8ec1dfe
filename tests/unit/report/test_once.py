"""What is the same all over a project is shown once, and is an entry a place for programs."""

from __future__ import annotations

from dataclasses import replace

from nanolint.diagnostics import Diagnostic, Severity, Span
from nanolint.report.excerpt import once_per_project
from nanolint.report.results import FileResult, Results
from nanolint.rule import Once


def found(code: str, *rows: int) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(code, code.lower(), Severity.WARNING, "m", Span(2 * row - 2, 2 * row - 1))
        for row in rows
    )


def file(name: str, *diagnostics: Diagnostic, project: str | None = "p") -> FileResult:
    return FileResult(name, "a\nb\nc\nd\n", diagnostics, project=project)


def test_the_train_script_stands_for_all() -> None:
    files = [file("p/bench.py", *found("X1", 2)), file("p/train.py", *found("X1", 1, 3))]
    bench, train = once_per_project(Results(files), {"X1": Once.RULE}).files
    assert bench.diagnostics == ()
    (kept,) = train.diagnostics
    assert kept.span == Span(0, 1)
    assert kept.notes == ("also in p/train.py:3, p/bench.py:2",)


def test_what_says_the_same_is_shown_once_and_nothing_else() -> None:
    other = replace(found("X1", 2)[0], message="n")
    files = [file("p/a.py", *found("X1", 1), other), file("p/b.py", *found("X1", 1), other)]
    kept = once_per_project(Results(files), {"X1": Once.MESSAGE}).findings
    assert [each.message for each in kept] == ["m", "n"]
    assert [each.notes for each in kept] == [("also in p/b.py:1",), ("also in p/b.py:2",)]


def test_other_rules_and_other_projects_are_their_own() -> None:
    files = [
        file("p/a.py", *found("X1", 1), *found("X2", 1, 2)),
        file("q/a.py", *found("X1", 1), project="q"),
        file("r/a.py", *found("X1", 1), project=None),
        file("s/a.py", *found("X1", 1), project=None),
    ]
    results = Results(files)
    assert once_per_project(results, {"X1": Once.RULE}) is results


def test_many_places_are_cut_short() -> None:
    files = [file(f"p/{name}.py", *found("X1", 1)) for name in "abcdefghi"]
    (kept,) = once_per_project(Results(files), {"X1": Once.RULE}).findings
    assert kept.notes[-1].endswith("p/f.py:1 and 3 more places")
    (kept,) = once_per_project(Results(files[:7]), {"X1": Once.RULE}).findings
    assert kept.notes[-1].endswith("p/f.py:1 and p/g.py:1")
