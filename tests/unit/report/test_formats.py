"""The other formats: concise, JSON, diff, statistics, and the summary below them."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.diagnostics import Diagnostic, Fix, Safety, Severity
from nanolint.linting.judged import JudgedRun
from nanolint.linting.setup import Skipped
from nanolint.report import concise, diff, statistics, summary
from nanolint.report import json as json_report
from nanolint.report.printer import Printer
from nanolint.report.results import FileResult, Results
from nanolint.rule import Need

if TYPE_CHECKING:
    from pathlib import Path


JUDGED = FileResult("a.py", runs=(JudgedRun("RTX 4070", True, "exact"),))


def rendered(module: Any, results: Results, **options: bool) -> str:
    out = io.StringIO()
    module.render(results, Printer(out), **options)
    return out.getvalue()


def test_concise(results: Results) -> None:
    assert rendered(concise, results) == (
        "config/a.py:2:1: NL102[error] batch_size = 64 runs RTX 3060 12GB out of memory\n"
    )


class TestJson:
    def test_the_shape_is_promised(self, results: Results) -> None:
        assert json.loads(rendered(json_report, results)) == [
            {
                "code": "NL102",
                "name": "oversized-logits",
                "severity": "error",
                "message": "batch_size = 64 runs RTX 3060 12GB out of memory",
                "filename": "config/a.py",
                "location": {"row": 2, "column": 1},
                "end_location": {"row": 2, "column": 16},
                "gpu": "RTX 3060 12GB",
                "fix": {
                    "safety": "safe",
                    "title": "Set batch_size = 8 and gradient_accumulation_steps = 320",
                    "edits": [
                        {
                            "location": {"row": 2, "column": 14},
                            "end_location": {"row": 2, "column": 16},
                            "content": "8",
                        },
                        {
                            "location": {"row": 5, "column": 31},
                            "end_location": {"row": 5, "column": 32},
                            "content": "40",
                        },
                    ],
                },
                "url": "https://github.com/nanolint/nanolint/blob/main/rules/"
                "nanolint_rules/memory/oversized_logits.md",
                "notes": ["Tried to allocate 6.14 GiB."],
                "details": [],
                "origin": None,
                "related": [
                    {
                        "message": "feeds this",
                        "location": {"row": 5, "column": 1},
                        "end_location": {"row": 5, "column": 36},
                    }
                ],
                "trust": "exact",
                "doubts": [],
            }
        ]

    def test_what_is_missing_is_null(self, oom: Diagnostic) -> None:
        bare = replace(oom, gpu=None, fix=None, notes=(), related=())
        (finding,) = json.loads(rendered(json_report, Results([FileResult("a.py", "", (bare,))])))
        assert finding["gpu"] is None
        assert finding["fix"] is None

    def test_no_findings_are_an_empty_list(self) -> None:
        assert json.loads(rendered(json_report, Results([]))) == []

    def test_names_that_are_no_text(self, oom: Diagnostic) -> None:
        out = rendered(json_report, Results([FileResult("caf\udce9.py", "", (oom,))]))
        assert out.isascii()


class TestDiff:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("a = 1\nb = 2\n", "a = 1\nb = 3\n"),
            ("a = 1\r\nb = 2\r\n", "a = 1\r\nb = 3\r\n"),
            ("a = 1\nb = 2", "a = 1\nb = 3"),
            ("a = 1", "a = 1\nb = 3"),
            ("a = '\x0c \u2028'\nb = 2\n", "a = '\x0c \u2028'\nb = 3\n"),
        ],
        ids=["newlines", "carriage returns", "no last newline", "appended", "odd characters"],
    )
    @pytest.mark.skipif(shutil.which("patch") is None, reason="needs patch")
    def test_patch_takes_it(self, before: str, after: str, tmp_path: Path) -> None:
        path = tmp_path / "a.py"
        path.write_bytes(before.encode())
        difference = rendered(diff, Results([FileResult("a.py", after, before=before)]))
        subprocess.run(
            ["patch", "-p0", "--binary", "-s"], input=difference.encode(), cwd=tmp_path, check=True
        )
        assert path.read_bytes() == after.encode()

    def test_no_newline_at_the_end_is_marked(self) -> None:
        assert rendered(diff, Results([FileResult("a.py", "b = 3", before="b = 2\n")])) == (
            "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-b = 2\n+b = 3\n\\ No newline at end of file\n"
        )

    def test_files_without_changes_are_left_out(self) -> None:
        assert rendered(diff, Results([FileResult("a.py", "b = 3\n")])) == ""


def test_statistics(oom: Diagnostic) -> None:
    info = replace(oom, code="NL201", name="compile-on-small-gpu", severity=Severity.INFO, fix=None)
    files = [FileResult("a.py", "", (info, oom)), FileResult("b.py", "", (info,))]
    assert rendered(statistics, Results(files)) == (
        "2  NL201  compile-on-small-gpu\n1  NL102  oversized-logits  (1 fixable)\n"
    )


class TestSummary:
    def test_counts(self, oom: Diagnostic) -> None:
        info = replace(oom, severity=Severity.INFO)
        unsafe = replace(oom, fix=Fix("Change it", Safety.UNSAFE, ()))
        warning = replace(oom, severity=Severity.WARNING, fix=None)
        files = [
            replace(JUDGED, diagnostics=(oom, oom, unsafe)),
            replace(JUDGED, name="b.py", diagnostics=(info, warning)),
        ]
        assert rendered(summary, Results(files)) == (
            "Found 3 errors, 1 warning and 1 info in 2 files.\n"
            "3 fixable with --fix, 1 more with --unsafe-fixes.\n"
            "2 runs checked for RTX 4070.\n"
        )
        assert "\n4 fixable with --fix --unsafe-fixes.\n" in rendered(
            summary, Results(files, unsafe_fixes=True)
        )

    def test_clean(self) -> None:
        assert rendered(summary, Results([JUDGED])) == "No findings in 1 file.\n"

    def test_a_file_that_was_not_judged_is_not_clean(self) -> None:
        assert rendered(summary, Results([FileResult("a.py", error="no such file")])) == ""

    def test_what_was_fixed(self, oom: Diagnostic) -> None:
        results = Results([replace(JUDGED, applied=(oom, oom))])
        assert rendered(summary, results) == (
            "Fixed a.py: 2 × NL102 (oversized-logits)\nNo findings left in 1 file.\n"
        )
        assert "  NL102: Set batch_size = 8" in rendered(summary, results, verbose=True)

    def test_what_was_skipped_is_grouped_by_its_reason(self) -> None:
        skipped = tuple(
            Skipped(code, "name", Need.RUN, "not known before the run: batch_size")
            for code in ("NL101", "NL102")
        )
        files = [FileResult(name, skipped=skipped) for name in ("a.py", "b.py")]
        told = "Skipped NL101, NL102 in a.py, b.py: not known before the run: batch_size\n"
        assert rendered(summary, Results(files), verbose=True).startswith(told)
        assert "Skipped" not in rendered(summary, Results(files))

    def test_what_nobody_could_help_is_not_told(self) -> None:
        skipped = (Skipped("NL001", "syntax-error", Need.FAULT, "the file is valid Python"),)
        files = [replace(JUDGED, skipped=skipped)]
        assert rendered(summary, Results(files), verbose=True) == "No findings in 1 file.\n"
