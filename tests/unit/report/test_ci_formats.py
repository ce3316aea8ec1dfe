"""GitLab's Code Quality and JUnit's XML: their shapes, nothing found, odd characters."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from nanolint.diagnostics import Diagnostic, Severity
from nanolint.report import gitlab, junit
from nanolint.report.printer import Printer
from nanolint.report.results import FileResult, Results
from tests.unit.report.conftest import TEXT

if TYPE_CHECKING:
    from types import ModuleType

UNUSABLE = FileResult("gone.py", error="no such file")


def rendered(module: ModuleType, results: Results) -> str:
    out = io.StringIO()
    module.render(results, Printer(out))
    return out.getvalue()


def test_gitlab_gets_what_its_page_asks_for(oom: Diagnostic) -> None:
    files = [FileResult("config/a.py", TEXT, (oom,)), FileResult("b.py", TEXT, (oom,)), UNUSABLE]
    first, second, third = json.loads(rendered(gitlab, Results(files)))
    assert first["description"] == oom.line
    assert (first["check_name"], first["severity"]) == ("NL102", "major")
    assert first["location"] == {"path": "config/a.py", "lines": {"begin": 2}}
    assert first["fingerprint"] != second["fingerprint"]
    assert (third["severity"], third["description"]) == ("blocker", "no such file")
    assert json.loads(rendered(gitlab, Results([]))) == []


def test_junit_has_a_failed_case_for_each_finding(oom: Diagnostic) -> None:
    info = replace(oom, severity=Severity.INFO)
    files = [
        FileResult("config/a.py", TEXT, (oom, oom)),
        FileResult("b.py", TEXT, (info,)),
        UNUSABLE,
    ]
    suite = ElementTree.fromstring(rendered(junit, Results(files)))
    assert suite.attrib == {"tests": "4", "failures": "2", "errors": "1"}
    failing, again, passing, broken = suite.iter("testcase")
    for failure in (*failing, *again):
        assert failure.attrib["message"] == f"config/a.py:2: NL102 {oom.line}"
    assert list(passing) == []
    assert broken[0].tag == "error"


def test_odd_characters_do_not_break_the_document(oom: Diagnostic) -> None:
    odd = replace(oom, message="a < b & 'c' \x1b\x00 \ufffe")
    files = [FileResult('"x"\udce9.py', TEXT, (odd,))]
    suite = ElementTree.fromstring(rendered(junit, Results(files)))
    (failure,) = suite.iter("failure")
    assert "a < b & 'c' \ufffd\ufffd \ufffd" in failure.attrib["message"]
    (issue,) = json.loads(rendered(gitlab, Results(files)))
    assert issue["description"].startswith("a < b & 'c'")
