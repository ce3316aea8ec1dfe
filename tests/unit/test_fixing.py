"""The fixer's own promises, on texts linted by toy rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from nanolint.diagnostics import Diagnostic, Edit, Fix, Safety, Severity, Span
from nanolint.linting.engine import Report
from nanolint.linting.fixing import fix_text, offered
from nanolint.source.assignments import Comment
from nanolint.source.text import apply_edits

Toy = Callable[[str], Iterator[Diagnostic]]


def finding(
    code: str,
    *edits: Edit,
    safety: Safety = Safety.SAFE,
    gpu: str | None = None,
    severity: Severity = Severity.WARNING,
) -> Diagnostic:
    promises = safety is Safety.SAFE
    fix = Fix("change it", safety, edits, promises=promises) if edits else None
    start = edits[0].start if edits else 0
    return Diagnostic(code, "toy", severity, "toy", Span(start, start), gpu=gpu, fix=fix)


def replacing(
    code: str, pattern: str, replacement: str, safety: Safety = Safety.SAFE, gpu: str | None = None
) -> Toy:
    """A rule that reports each match of ``pattern``."""

    def rule(text: str) -> Iterator[Diagnostic]:
        for match in re.finditer(pattern, text):
            edit = Edit(match.start(), match.end(), replacement)
            yield finding(code, edit, safety=safety, gpu=gpu)

    return rule


def linter(*rules: Toy) -> Callable[[str], Report]:
    def lint(text: str) -> Report:
        comments = tuple(
            Comment(m.group(), Span(*m.span()), own_line=False) for m in re.finditer("#.*", text)
        )
        product = 1
        for number in re.findall(r"\d+", text):
            product *= int(number)
        return Report(
            None,
            None,
            tuple(d for rule in rules for d in rule(text)),
            promise=(("the effective batch", product),),
            comments=comments,
            unjudged="it does not parse" if "(" in text else None,
        )

    return lint


def fix(text: str, *rules: Toy, unsafe: bool = False) -> tuple[str, list[str]]:
    def fixable(diagnostic: Diagnostic) -> bool:
        return unsafe or (diagnostic.fix is not None and diagnostic.fix.safety is Safety.SAFE)

    fixed = fix_text(linter(*rules), text, fixable=fixable)
    return fixed.text, [dropped.reason for dropped in fixed.dropped]


def test_edits_are_applied_by_position_whatever_their_order() -> None:
    assert apply_edits("abcdef", [Edit(4, 5, "E"), Edit(0, 1, ""), Edit(2, 2, "-")]) == "b-cdEf"


def test_fixes_that_enable_further_fixes_run_to_a_fixpoint() -> None:
    text, dropped = fix("one", replacing("X1", "one", "two"), replacing("X2", "two", "three"))
    assert (text, dropped) == ("three", [])


def test_overlapping_fixes_wait_for_the_next_pass() -> None:
    text, dropped = fix("aab", replacing("X1", "aa", "b"), replacing("X2", "ab", "b"))
    assert (text, dropped) == ("bb", [])


def test_the_same_fix_found_for_two_gpus_is_applied_once() -> None:
    rules = [replacing("X1", "16 \\* 2", "8 * 4", gpu=gpu) for gpu in ("T4", "L4")]
    assert fix("16 * 2", *rules) == ("8 * 4", [])


def test_unsafe_and_display_fixes_wait_to_be_asked_for() -> None:
    unsafe = replacing("X1", "bad", "good", Safety.UNSAFE)
    display = replacing("X2", "odd", "even", Safety.DISPLAY)
    assert fix("bad odd", unsafe, display) == ("bad odd", [])


def test_a_fix_that_breaks_the_file_is_dropped_and_the_others_are_kept() -> None:
    text, dropped = fix("bad odd", replacing("X1", "bad", "("), replacing("X2", "odd", "even"))
    assert text == "bad even"
    assert dropped == ["nanolint cannot read the fixed file: it does not parse"]


def test_a_safe_fix_that_changes_what_it_promised_to_keep_is_dropped() -> None:
    text, dropped = fix("16 * 2", replacing("X1", "16", "8"))
    assert text == "16 * 2"
    assert dropped == ["the fix would change the effective batch from 32 to 16"]


def test_a_fix_that_loses_a_comment_is_dropped() -> None:
    def comment_out(text: str) -> Iterator[Diagnostic]:
        if not text.startswith("#"):
            yield finding("X1", Edit(0, 0, "# "))

    text, dropped = fix("bad # why", comment_out)
    assert text == "bad # why"
    assert dropped == ["the fix would lose a comment"]


def test_a_finding_that_its_own_fix_does_not_cure_is_dropped() -> None:
    text, dropped = fix("bad", replacing("X1", "bad|worse", "worse"))
    assert text == "bad"
    assert dropped == ["X1 is still reported after its fix"]


def test_a_fix_that_causes_an_error_is_dropped() -> None:
    def error(text: str) -> Iterator[Diagnostic]:
        if "good" in text:
            yield finding("X9", severity=Severity.ERROR)

    text, dropped = fix("bad", replacing("X1", "bad", "good"), error)
    assert text == "bad"
    assert dropped == ["the fix would cause X9 (toy)"]


def test_fixes_that_chase_each_other_end() -> None:
    text, dropped = fix("tick", replacing("X1", "tick", "tock"), replacing("X2", "tock", "tick"))
    assert text in {"tick", "tock"}
    assert dropped == ["fixes do not settle after 10 passes"]


def test_a_safe_fix_comes_before_an_unsafe_one_that_it_touches() -> None:
    rules = (replacing("X1", "ab", "x", Safety.UNSAFE), replacing("X2", "bc", ""))
    assert fix("abc", *rules, unsafe=True) == ("a", [])


def test_no_two_of_three_fixes_made_at_once_overlap() -> None:
    rules = (
        replacing("X1", "aa", "b"),
        replacing("X2", "q", "r"),
        replacing("X3", "ab", "z", Safety.UNSAFE),
    )
    assert fix("aab q", *rules, unsafe=True) == ("bb r", [])


def test_edits_that_abut_are_made_one_after_the_other() -> None:
    tried: list[str] = []
    rules = (replacing("X1", "a", "x"), replacing("X2", "b", "y"))

    def lint(text: str) -> Report:
        tried.append(text)
        return linter(*rules)(text)

    assert fix_text(lint, "ab", fixable=lambda _: True).text == "xy"
    assert tried == ["ab", "xb", "xy"]
    tried.clear()
    rules = (replacing("X1", "a", "x", Safety.UNSAFE), replacing("X2", "b", "y"))
    assert fix_text(lint, "ab", fixable=lambda _: True).text == "xy"
    assert tried == ["ab", "ay", "xy"]
    tried.clear()
    assert fix_text(lint, "a b", fixable=lambda _: True).text == "x y"
    assert tried == ["a b", "x y"]


def test_an_unsafe_fix_may_change_what_a_safe_one_keeps() -> None:
    rule = replacing("X1", "16", "8", Safety.UNSAFE)
    assert fix("16 * 2", rule, unsafe=True) == ("8 * 2", [])


def test_a_fix_that_makes_invalid_python_is_dropped() -> None:
    def invalid(text: str) -> Iterator[Diagnostic]:
        if "good" in text:
            yield finding("NL001")

    text, dropped = fix("bad", replacing("X1", "bad", "good"), invalid)
    assert text == "bad"
    assert dropped == ["the fixed file is not valid Python"]


def test_a_fix_may_rewrite_a_comment() -> None:
    assert fix("# bad", replacing("X1", "bad", "good")) == ("# good", [])
    assert fix("bad# kept", replacing("X1", "bad", "good")) == ("good# kept", [])


def test_one_of_two_findings_may_stay_when_only_the_other_has_a_fix() -> None:
    def unfixable(text: str) -> Iterator[Diagnostic]:
        if "odd" in text:
            yield finding("X1")

    assert fix("bad odd", replacing("X1", "bad", "good"), unfixable) == ("good odd", [])


def test_an_error_that_was_there_before_does_not_stand_in_the_way_of_a_fix() -> None:
    def error(text: str) -> Iterator[Diagnostic]:
        code = "NL102" if "bad" in text else "NL101"
        yield finding(code, severity=Severity.ERROR, gpu="T4")

    assert fix("bad", replacing("X1", "bad", "good"), error) == ("good", [])


def test_an_error_on_another_gpu_than_before_is_a_new_one() -> None:
    def error(text: str) -> Iterator[Diagnostic]:
        gpu = "T4" if "bad" in text else "L4"
        yield finding("NL101", severity=Severity.ERROR, gpu=gpu)

    text, dropped = fix("bad", replacing("X1", "bad", "good"), error)
    assert text == "bad"
    assert dropped == ["the fix would cause NL101 (toy)"]


def test_a_warning_that_a_fix_brings_is_no_reason_to_drop_it() -> None:
    def warning(text: str) -> Iterator[Diagnostic]:
        if "good" in text:
            yield finding("X9")

    assert fix("bad", replacing("X1", "bad", "good"), warning) == ("good", [])


def test_the_fixes_are_told_with_the_report_of_the_fixed_text() -> None:
    rules = (replacing("X1", "bad", "good"), replacing("X2", "odd", "("))
    fixed = fix_text(linter(*rules), "bad odd", fixable=lambda _: True)
    assert [diagnostic.code for diagnostic in fixed.applied] == ["X1"]
    assert [dropped.diagnostic.code for dropped in fixed.dropped] == ["X2"]
    assert fixed.text == "good odd"
    assert [diagnostic.code for diagnostic in fixed.report.diagnostics] == ["X2"]


def test_a_fix_dropped_in_a_pass_is_told_with_those_that_do_not_settle() -> None:
    chase = (replacing("X1", "tick", "tock"), replacing("X2", "tock", "tick"))
    _, dropped = fix("odd tick", *chase, replacing("X3", "odd", "("))
    assert dropped == [
        "nanolint cannot read the fixed file: it does not parse",
        "fixes do not settle after 10 passes",
    ]


def test_the_fixes_of_all_passes_are_told() -> None:
    rules = (replacing("X1", "one", "two"), replacing("X2", "two", "three"))
    fixed = fix_text(linter(*rules), "one one", fixable=lambda _: True)
    assert [diagnostic.code for diagnostic in fixed.applied] == ["X1", "X1", "X2", "X2"]


def test_ten_passes_are_made_and_no_more() -> None:
    def grow(most: int) -> Toy:
        def rule(text: str) -> Iterator[Diagnostic]:
            if len(text) < most:
                yield finding(f"X{len(text)}", Edit(0, 0, "a"))

        return rule

    assert fix("", grow(9)) == ("a" * 9, [])
    text, dropped = fix("", grow(11))
    assert text == "a" * 10
    assert dropped == ["fixes do not settle after 10 passes"]


def offers(text: str, *rules: Toy) -> list[tuple[str, bool, tuple[str, ...]]]:
    """Each finding, whether a fix is offered with it, and the notes."""
    lint = linter(*rules)
    found = offered(lint, text, lint(text)).diagnostics
    return [(each.code, each.fix is not None, each.notes) for each in found]


def test_a_fix_that_its_check_refuses_is_not_offered() -> None:
    rules = (replacing("X1", "bad", "("), replacing("X2", "odd", "even"))
    why = "not fixed: nanolint cannot read the fixed file: it does not parse"
    assert offers("bad odd", *rules) == [("X1", False, (why,)), ("X2", True, ())]
    assert offers("bad", rules[0]) == [("X1", False, (why,))]


def test_fixes_that_touch_one_another_are_checked_each() -> None:
    rules = (replacing("X1", "ab", "("), replacing("X2", "bc", ""))
    assert [is_offered for _, is_offered, _ in offers("abc", *rules)] == [False, True]


def test_an_unsafe_fix_is_offered_though_it_breaks_what_safe_ones_keep() -> None:
    unsafe = replacing("X1", "16", "8", Safety.UNSAFE)
    assert offers("16 * 2 odd", unsafe, replacing("X2", "odd", "even")) == [
        ("X1", True, ()),
        ("X2", True, ()),
    ]


def test_what_is_only_shown_is_not_checked() -> None:
    assert offers("bad", replacing("X1", "bad", "(", Safety.DISPLAY)) == [("X1", True, ())]
