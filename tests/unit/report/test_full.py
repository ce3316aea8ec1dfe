"""The full report, line by line."""

from __future__ import annotations

import io
from dataclasses import replace

from nanolint.diagnostics import Diagnostic, Edit, Fix, Safety, Severity, Span
from nanolint.report import full
from nanolint.report.printer import Printer
from nanolint.report.results import FileResult, Results
from tests.unit.report.conftest import TEXT


def rendered(results: Results, *, color: bool = False, width: int | None = None) -> str:
    out = io.StringIO()
    full.render(results, Printer(out, color=color, width=width))
    return out.getvalue()


def one(text: str, part: str, *, message: str = "told", name: str = "a.py") -> str:
    start = text.index(part)
    span = Span(start, start + len(part))
    diagnostic = Diagnostic("NL999", "rule-name", Severity.WARNING, message, span)
    return rendered(Results([FileResult(name, text, (diagnostic,))]))


def test_everything_at_once(results: Results) -> None:
    assert (
        rendered(results)
        == """\
error[NL102]: batch_size = 64 runs RTX 3060 12GB out of memory
  --> config/a.py:2:1
   |
 1 | # 124M
 2 | batch_size = 64
   | ^^^^^^^^^^^^^^^
 3 | block_size = 1024
...
 5 | gradient_accumulation_steps = 5 * 8
   | ----------------------------------- feeds this
   |
   = note: Tried to allocate 6.14 GiB.
   = help: Set batch_size = 8 and gradient_accumulation_steps = 320 (--fix)
 2 - batch_size = 64
 2 + batch_size = 8
 5 - gradient_accumulation_steps = 5 * 8
 5 + gradient_accumulation_steps = 40 * 8

"""
    )


def test_a_terminal_is_filled_but_source_is_never_wrapped(results: Results) -> None:
    lines = rendered(results, width=50).splitlines()
    assert lines[:2] == [
        "error[NL102]: batch_size = 64 runs RTX 3060 12GB",
        "  out of memory",
    ]
    assert "   = help: Set batch_size = 8 and" in lines
    assert "           gradient_accumulation_steps = 320" in lines
    assert " 5 + gradient_accumulation_steps = 40 * 8" in lines


def test_color_changes_nothing_but_the_color(results: Results) -> None:
    import re

    colored = rendered(results, color=True)
    assert "\x1b[1;31merror[NL102]" in colored
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == rendered(results)


def test_the_gpu_is_named_unless_the_message_does(oom: Diagnostic) -> None:
    elsewhere = replace(oom, message="too large")
    assert "   = gpu: RTX 3060 12GB\n" in rendered(
        Results(
            [FileResult("a.py", "batch_size = 64", (replace(elsewhere, fix=None, related=()),))]
        )
    )


def test_each_safety_has_its_own_offer(oom: Diagnostic) -> None:
    for safety, offer in (
        (Safety.SAFE, "(--fix)"),
        (Safety.UNSAFE, "(--fix --unsafe-fixes)"),
        (Safety.DISPLAY, "(shown only)"),
    ):
        fix = Fix("Change it", safety, (Edit(0, 1, "x"),))
        found = replace(oom, fix=fix, related=(), span=Span(0, 1))
        assert f"Change it {offer}\n" in rendered(
            Results([FileResult("a.py", "a = 1\n", (found,))])
        )


def test_the_remedy_takes_the_place_of_the_title(oom: Diagnostic) -> None:
    found = replace(oom, remedy="batch_size = 8 fits")
    file = FileResult("a.py", TEXT, (found,))
    assert "   = help: batch_size = 8 fits (--fix)\n" in rendered(Results([file]))
    unfixed = FileResult("a.py", TEXT, (replace(found, fix=None),))
    assert "   = help: batch_size = 8 fits\n" in rendered(Results([unfixed]))


def test_details_are_shown_on_demand(oom: Diagnostic) -> None:
    files = [FileResult("a.py", TEXT, (replace(oom, details=("PyTorch would say so",)),))]
    assert "PyTorch would say so" not in rendered(Results(files))
    assert "   = note: PyTorch would say so\n" in rendered(Results(files, verbose=True))


class TestUnderline:
    def test_wide_characters_take_two_cells(self) -> None:
        assert " 1 | 名前 = 'データ'; size = 3\n   |                  ^^^^^^^^\n" in one(
            "名前 = 'データ'; size = 3\n", "size = 3"
        )

    def test_tabs_are_expanded_in_source_and_underline_alike(self) -> None:
        assert " 1 | a   = 1\n   |     ^^^\n" in one("a\t= 1\n", "= 1")

    def test_only_the_first_line_of_a_span_is_underlined(self) -> None:
        assert " 1 | a = (\n   | ^^^^^\n 2 |     1\n   |\n" in one(
            "a = (\n    1\n)\n", "a = (\n    1\n)"
        )

    def test_an_empty_file_has_an_empty_line(self) -> None:
        assert "  --> a.py:1:1\n   |\n 1 |\n   | ^\n   |\n" in one("", "")

    def test_carriage_returns_are_not_shown(self) -> None:
        assert " 1 | a = 1\n   | ^^^^^\n 2 | b = 2\n" in one("a = 1\r\nb = 2\r\n", "a = 1")

    def test_a_long_line_is_cut_around_the_place(self) -> None:
        text = f"{'x' * 500} = 3; size = 4; y = '{'z' * 500}'\n"
        shown = one(text, "size = 4").splitlines()
        assert len(shown[3]) < 180
        start = shown[4].index("^")
        assert shown[3][start : start + 8] == "size = 4"
        assert shown[3].startswith(" 1 | …")
        assert shown[3].endswith("…")


class TestHostileText:
    def test_nothing_in_the_source_reaches_the_terminal(self) -> None:
        shown = one("a = 1  # \x1b[31m\u202egnp.exe\x07\n", "a = 1")
        assert "\x1b" not in shown and "\u202e" not in shown and "\x07" not in shown
        assert "␛[31m" in shown

    def test_nor_in_names_and_messages(self) -> None:
        shown = one("a = 1\n", "a = 1", name="bad\n\x1b[2J.py", message="found 'x\ny\x1b'")
        assert "\x1b" not in shown
        assert "  --> bad␊␛[2J.py:1:1\n" in shown
        assert ": found 'x␊y␛'\n" in shown

    def test_what_looks_like_rich_markup_is_text(self) -> None:
        text = "a = '[red]x[/red] :smile:'\n"
        diagnostic = Diagnostic("NL999", "n", Severity.INFO, "[bold]m[/] :fire:", Span(0, 1))
        shown = rendered(Results([FileResult("[b]a.py", text, (diagnostic,))]), color=True)
        assert "[red]x[/red] :smile:" in shown
        assert "[bold]m[/] :fire:" in shown
        assert "[b]a.py:1:1" in shown
