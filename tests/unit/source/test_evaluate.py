"""Expressions have Python's values, or none, and never cost much."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanolint.source.parse import parse
from nanolint.source.values import Known, Plain, Unknown, Value


def value_of(expression: str, **names: Value) -> Value:
    return parse(f"x = {expression}\n", names).final["x"]


def known(expression: str) -> Plain:
    value = value_of(expression)
    assert isinstance(value, Known), value
    return value.value


def unknown(expression: str, **names: Value) -> str:
    value = value_of(expression, **names)
    assert isinstance(value, Unknown), value
    return value.reason


EXACT = [
    "None",
    "True",
    "-100",
    "+3",
    "6_000",
    "0x1F",
    "0b101",
    "0o17",
    "1e-1",
    ".5",
    "3e-5",
    "1e400",
    "not 1",
    "~5",
    "5 * 8",
    "7 // -2",
    "-7 // 2",
    "-7 % 3",
    "7 % -3",
    "2 ** 10",
    "2 ** -1",
    "True + 1",
    "1 / 3",
    "10 / 5",
    "1 << 10",
    "5 & 6 | 1 ^ 8",
    "0.1 + 0.2",
    "7.5 // 2",
    "2 ** 0.5",
    "-2 ** 2",
    "(1, 2) + (3,)",
    "[1] * 3",
    "'ab' * 2",
    "1 < 2 < 3",
    "1 < 2 > 5",
    "'a' in 'abc'",
    "3 not in [1, 2]",
    "None is None",
    "True is not None",
    "(1, 2) < (1, 3)",
    "0 or 5",
    "1 and 0",
    "'' or 'x'",
    "False and undefined",
    "True or undefined",
    "1 if True else undefined",
    "int('12')",
    "int(3.9)",
    "int(-3.9)",
    "int('ff', 16)",
    "float('1e3')",
    "str(1e-5)",
    "str(True)",
    "bool([])",
    "len('abc')",
    "abs(-3)",
    "min(3, 1, 2)",
    "max([1, 5])",
    "round(2.5)",
    "round(3.14159, 2)",
    "round(1234, -2)",
    "sum([1, 2, 3])",
    "sum((1, 2), 10)",
    "pow(2, 5)",
    "int(1e9)",
    "int()",
    "str()",
    "'a' 'b'",
    "'a' + \"b\"",
    "r'\\n'",
    "'tab\\t'",
    "'it''s'",
    "'''a\nb'''",
    "u'x'",
    "'\\u00e9'",
    "''",
    "f'{1}-{2.5:.1f}'",
    "f'{\"a\"!r}'",
    "f'{5:>4}|{{}}'",
    "f'{3:03d}'",
    "f'{1234567:,}'",
    "f'x'",
    "'%d-%s' % (1, 'a')",
    "'%5.2f' % 3.14159",
    "'{}-{:.2f}'.format(1, 2.0)",
    "'{a}'.format(a=3)",
    "'%%'",
    "()",
    "(1,)",
    "[1, [2, 3]]",
    "{'a': 1, 2: 'b'}",
    "{'a': 1}['a']",
    "[1, 2][-1]",
    "'abc'[0]",
    "(1, 2)[1]",
    "{}",
]


@pytest.mark.parametrize("expression", EXACT)
def test_an_expression_has_the_value_that_python_gives_it(expression: str) -> None:
    expected = eval(expression, {})  # of this file's own text
    value = known(expression)
    assert value == expected
    assert type(value) is type(expected)
    assert repr(value) == repr(expected)


OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "<", "==", "and", "or"]
numbers = st.one_of(st.integers(-100, 100), st.floats(-1e6, 1e6), st.booleans()).map(repr)
expressions = st.recursive(
    numbers,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(OPERATORS), inner).map(
            lambda parts: f"({' '.join(parts)})"
        ),
        inner.map(lambda operand: f"(-{operand})"),
        inner.map(lambda operand: f"int({operand})"),
        st.tuples(inner, inner, inner).map(lambda parts: "({} if {} else {})".format(*parts)),
        st.tuples(inner, inner).map(lambda parts: "max({}, {})".format(*parts)),
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(expressions)
def test_generated_arithmetic_agrees_with_python(expression: str) -> None:
    value = value_of(expression)
    if isinstance(value, Unknown):
        return  # too large, or an error: see the next tests
    expected = eval(expression, {})
    assert type(value.value) is type(expected)
    assert value.value == expected or expected != expected


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("1 / 0", "division by zero at run time"),
        ("1 % 0", "division by zero at run time"),
        ("0 ** -1", "division by zero at run time"),
        ("1 + 'a'", "TypeError at run time"),
        ("int('x')", "ValueError at run time"),
        ("[1][5]", "IndexError at run time"),
        ("{}['a']", "KeyError at run time"),
        ("10.0 ** 400", "OverflowError at run time"),
        ("int(1e400)", "OverflowError at run time"),
        ("'%d' % 'a'", "TypeError at run time"),
        ("missing", "reads missing, which is not set above"),
        ("missing * 2", "reads missing, which is not set above"),
        ("time.time()", "calls time.time at run time"),
        ("'ft-' + str(time.time())", "calls time.time at run time"),
        ("open('x').read()", "calls"),
        ("b'x'", "a bytes literal"),
        ("3j", "a complex number"),
        ("(-8) ** 0.5", "a value of type complex"),
        ("[i for i in (1, 2)]", "a comprehension"),
        ("lambda: 1", "a lambda"),
        ("{1, 2}", "a set"),
        ("...", "an ellipsis"),
        ("[1, 2, 3][0:2]", "a slice"),
        ("[*(1, 2)]", "a starred item"),
        ("'a' is 'a'", "`is` between"),
        ("f'{1:n}'", "locale"),
        ("f'{1=}'", "its own source"),
        ("'{0.real}'.format(1)", "attributes"),
        ("'\\ud800'", "not valid Unicode"),
        ("{(1, 2): 3}", "tuples for keys"),
        ("min(1, 2, key=abs)", "calls min"),
        ("min(*(1, 2))", "starred arguments"),
    ],
)
def test_what_only_a_run_could_tell_is_unknown_with_its_reason(
    expression: str, reason: str
) -> None:
    assert reason in unknown(expression)


@pytest.mark.parametrize("template", ["'{:{}}'.format(1, 999999999)", "f'{1:{9}}'"])
def test_a_format_within_a_format_is_unknown(template: str) -> None:
    assert "within a format" in unknown(template)


def test_all_the_work_together_is_bounded() -> None:
    text = "x = 'a' * 9000\n" + "y = x + 'b'\n" * 5000
    module = parse(text)
    assert isinstance(module.assignments[1].value, Known)
    assert module.final["y"] == Unknown("too large to evaluate")


def test_both_branches_are_candidates_when_the_test_is_unknown() -> None:
    value = value_of("'bfloat16' if torch.cuda.is_available() else 'float16'")
    assert value == Unknown("calls torch.cuda.is_available at run time", ("bfloat16", "float16"))


def test_candidates_of_nested_conditionals_are_collected() -> None:
    value = value_of("1 if a() else 2 if b() else 3")
    assert isinstance(value, Unknown)
    assert value.candidates == (1, 2, 3)


def test_there_are_no_candidates_when_a_branch_is_unknown() -> None:
    value = value_of("1 if a() else b()")
    assert isinstance(value, Unknown)
    assert value.candidates == ()


def test_a_copied_name_keeps_its_candidates_and_a_computed_one_does_not() -> None:
    module = parse("a = 1 if f() else 2\nb = a\nc = a * 2\n")
    assert module.final["b"] == Unknown("reads a: calls f at run time", (1, 2))
    assert module.final["c"] == Unknown("reads a: calls f at run time")


def test_reasons_name_the_root_of_a_chain() -> None:
    module = parse("a = f()\nb = a\nc = b\nd = c\n")
    assert module.final["d"] == Unknown("reads a: calls f at run time")


def test_names_from_the_environment_are_known() -> None:
    assert value_of("batch_size * 2", batch_size=Known(12)) == Known(24)


@pytest.mark.parametrize(
    "shadow", ["int = 3", "def int(x): return 7", "from m import int", "int = f"]
)
def test_a_shadowed_builtin_is_not_the_builtin(shadow: str) -> None:
    assert isinstance(parse(f"{shadow}\nx = int('5')\n").final["x"], Unknown)


def test_booleans_keep_their_operand() -> None:
    assert known("0 or 'x'") == "x"
    assert known("[] and 1") == []
