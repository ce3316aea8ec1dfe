"""GitHub's workflow commands, as its runner reads them."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.diagnostics import Severity, Span
from nanolint.report import github
from nanolint.report.printer import Printer
from nanolint.report.results import FileResult, Results
from tests.unit.report.conftest import TEXT

if TYPE_CHECKING:
    from nanolint.diagnostics import Diagnostic


def rendered(*files: FileResult) -> str:
    out = io.StringIO()
    github.render(Results(files), Printer(out))
    return out.getvalue()


def test_a_finding(results: Results) -> None:
    assert rendered(*results.files) == (
        "::error title=NL102 oversized-logits,file=config/a.py,line=2,col=1,endLine=2,endColumn=16"
        "::batch_size = 64 runs RTX 3060 12GB out of memory%0ATried to allocate 6.14 GiB.\n"
    )


def test_what_the_runner_would_take_for_its_own_is_escaped(oom: Diagnostic) -> None:
    odd = replace(oom, message="100%: a,\r\nb", severity=Severity.WARNING, notes=())
    told = rendered(FileResult("a:1,\n%.py", TEXT, (odd,)))
    assert ",file=a%3A1%2C%0A%25.py," in told
    assert told.startswith("::warning ")
    assert told.endswith("::100%25: a,%0D%0Ab\n")


def test_no_name_of_a_file_is_obeyed(oom: Diagnostic) -> None:
    name = "a\x1b[31m\u202eb.py"
    told = rendered(FileResult(name, TEXT, (oom,)), FileResult(name, error="no such file"))
    assert told.count(",file=a␛[31m\ufffdb.py,") == 1
    assert not {"\x1b", "\u202e"} & set(told)


def test_columns_only_within_a_line(oom: Diagnostic) -> None:
    several = replace(oom, span=Span(0, TEXT.index("block_size")), severity=Severity.INFO)
    assert "::notice title=NL102 oversized-logits,file=a.py,line=1,endLine=3::" in rendered(
        FileResult("a.py", TEXT, (several,))
    )


def test_a_file_that_could_not_be_judged() -> None:
    told = rendered(FileResult("a.py", error="no such file"))
    assert told == "::error file=a.py::no such file\n"
