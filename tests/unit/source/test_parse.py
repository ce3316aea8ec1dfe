"""Every form of assignment, with the exact characters that it takes."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanolint.diagnostics import Span
from nanolint.source.parse import Unparsable, parse, parse_tree, positions
from nanolint.source.text import LineIndex
from nanolint.source.values import Known, TooComplex, Unknown

if TYPE_CHECKING:
    from nanolint.source.assignments import Assignment, Module


def read(text: str) -> Module:
    """Parse ``text``, checking that every span says what it should."""
    module = parse(text)
    for assignment in module.assignments:
        assert cut(text, assignment.key_span) == assignment.key
        assert cut(text, assignment.value_span) == assignment.expression
        assert assignment.statement.start <= assignment.key_span.start
        assert assignment.value_span.end <= assignment.statement.end
        for factor in assignment.factors:
            if factor.value is not None:
                assert int(cut(text, factor.span), 0) == factor.value
    for name in module.reads:
        assert cut(text, name.span) == name.name
    for comment in module.comments:
        assert cut(text, comment.span) == comment.text
        assert comment.text.startswith("#")
    return module


def cut(text: str, span: Span) -> str:
    return text[span.start : span.end]


def only(text: str) -> Assignment:
    (assignment,) = read(text).assignments
    return assignment


def statement(text: str) -> str:
    return cut(text, only(text).statement)


def test_a_plain_assignment() -> None:
    text = "batch_size = 12  # per step\n"
    assignment = only(text)
    assert assignment.key == "batch_size"
    assert assignment.value == Known(12)
    assert cut(text, assignment.statement) == "batch_size = 12"
    assert not assignment.shared


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("x=3", "3"),
        ("x = 3", "3"),
        ("x\t=\t3\t# c", "3"),
        ("x: int = 3", "3"),
        ("x = (3)", "(3)"),
        ("x = (\n    3  # three\n)", "(\n    3  # three\n)"),
        ("x = 1 + \\\n    2", "1 + \\\n    2"),
        ("x = \\\n3", "3"),
        ("\\\nx = 3", "3"),
        ("a\n\\\nx = 3\n", "3"),
        ("\x0cx = 3", "3"),
        ("a\n\x0c\nx = 3", "3"),
        ("a\n\x0cx = 3\n", "3"),
        ("a\r\n\x0c\x0cx = 3\r\n", "3"),
        ("a # c\n\x0cx = 3\n", "3"),
        ("\ufeffx = 3\n", "3"),
        ("\ufeff\n# c\nx = 3\n", "3"),
        ("# \N{ROCKET} \u00e9\nx = 3", "3"),
        ("'\N{ROCKET}'; x = 3", "3"),
        ("x = 3;", "3"),
        ("a\rx = 3\r", "3"),
        ("a\r\nx = 3\r\n", "3"),
        ("a\nb\r\nc\rx = 3 # c\r", "3"),
        ("x = 3 # c\\\n", "3"),
        ("x = '''\r\n'''", "'''\r\n'''"),
        ("   \nx = 3\n   ", "3"),
    ],
)
def test_layout_does_not_move_the_value(text: str, expression: str) -> None:
    module = read(text)
    assignment = module.assignments[-1]
    assert assignment.key == "x"
    assert assignment.expression == expression


def test_a_statement_is_its_whole_logical_line() -> None:
    assert statement("x = (1 +\n     2)  # c\n") == "x = (1 +\n     2)"
    assert statement("x = 3 ;  # c\n") == "x = 3 ;"
    module = read("a = 1; b = 2 # c\n")
    assert [a.statement for a in module.assignments] == [Span(0, 12), Span(0, 12)]


def test_a_bare_annotation_assigns_nothing() -> None:
    assert read("x: int\n").assignments == ()


def test_chained_targets_share_their_value() -> None:
    module = read("a = b = 5 * 8\n")
    assert [(a.key, a.value, a.shared) for a in module.assignments] == [
        ("a", Known(40), True),
        ("b", Known(40), True),
    ]


def test_a_chained_value_is_computed_once() -> None:
    module = read("a = 1\na = b = a + 1\n")
    assert module.final == {"a": Known(2), "b": Known(2)}


def test_unpacking_gives_each_key_its_element() -> None:
    module = read("(a, [b, c]), d = (1, (2, 3)), 4\n")
    assert [(a.key, a.value, a.expression) for a in module.assignments] == [
        ("a", Known(1), "1"),
        ("b", Known(2), "2"),
        ("c", Known(3), "3"),
        ("d", Known(4), "4"),
    ]
    assert all(assignment.shared for assignment in module.assignments)


def test_unpacking_swaps_with_the_old_values() -> None:
    assert read("a = 1\nb = 2\na, b = b, a\n").final == {"a": Known(2), "b": Known(1)}


def test_unpacking_a_known_value_of_another_shape() -> None:
    module = read("pair = (1, 2)\na, b = pair\nc, d = 'xy'\ne, f = 1, 2, 3\ng, *h = 1, 2\n")
    assert module.final["a"] == Known(1)
    assert module.final["d"] == Known("y")
    assert module.final["e"] == Unknown("unpacked from a value of another length")
    assert module.final["h"] == Unknown("unpacked with a star")
    assert module.assignments[1].factors == ()


def test_augmented_assignment_is_evaluated_and_left_alone_by_fixes() -> None:
    module = read("a = 4\na *= 2\n")
    assert [a.value for a in module.assignments] == [Known(4), Known(8)]
    last = module.assignments[1]
    assert (last.shared, last.factors) == (True, ())
    assert [name.name for name in module.reads] == ["a"]


def test_augmenting_an_unknown_name_is_unknown() -> None:
    assert read("a = f()\na //= 2\n").final["a"] == Unknown("reads a: calls f at run time")


@pytest.mark.parametrize(
    ("expression", "factors"),
    [
        ("40", [40]),
        ("(40)", [40]),
        ("5 * 8", [5, 8]),
        ("(5 * 8)", [5, 8]),
        ("2 * (3 * 4) * 5", [2, 3, 4, 5]),
        ("1_024 * 0x10", [1024, 16]),
        ("5 * n", [5, None]),
        ("5 * (4 + 4)", [5, None]),
        ("2.0 * 4", [None, 4]),
        ("-5", []),
        ("5 + 8", []),
        ("n", []),
        ("'5'", []),
        ("5 * -8", [5, None]),
        ("(4) * ((8) * 2)", [4, 8, 2]),
        ("(  # 8\n    8  # 8\n)", [8]),
    ],
)
def test_factors_are_the_operands_of_a_product(expression: str, factors: list[int | None]) -> None:
    module = read(f"n = 2\nx = {expression}\n")
    assert [factor.value for factor in module.assignments[1].factors] == factors


def test_duplicates_stay_and_the_last_one_wins() -> None:
    module = read("a = 1\na = 2\n")
    assert len(module.assignments) == 2
    assert module.final == {"a": Known(2)}


def test_comments_know_whether_they_stand_alone() -> None:
    text = "# one\nx = (  # two\n    # three\n    1)\n\t# four\nif x:\n    pass\n# five"
    comments = read(text).comments
    assert [(c.text, c.own_line) for c in comments] == [
        ("# one", True),
        ("# two", False),
        ("# three", True),
        ("# four", True),
        ("# five", True),
    ]


def test_strings_are_no_comments() -> None:
    text = "\"\"\"# doc\"\"\"\nx = '# a'\ny = f'{x}# b'\nz = '''\n# c\n'''\n"
    assert read(text).comments == ()


@pytest.mark.parametrize(
    ("text", "row", "column"),
    [
        ("x = (1\n", 1, 5),
        ("x = 1\ny = = 2\n", 2, 5),
        ("\u00e9\u00e9 = 1\r\ny = )\r\n", 2, 5),
        ("x = 1\ry = )\r", 2, 5),
        ("x = 'abc\n", 1, 5),
        ("x = 1\n  y = 2\n", 2, 1),
        ("print 'x'\n", 1, 1),
        ("f() = 1\n", 1, 1),
    ],
)
def test_a_syntax_error_is_one_line_at_the_right_place(text: str, row: int, column: int) -> None:
    with pytest.raises(Unparsable) as caught:
        parse(text)
    assert LineIndex(text).position(caught.value.offset)[0] == row
    assert LineIndex(text).position(caught.value.offset)[1] in range(column, column + 3)
    assert "\n" not in caught.value.message
    assert str(caught.value) == caught.value.message


@pytest.mark.parametrize("text", ["x = '\ud800'", "x = 1\0", "x = b'a' 'b'"])
def test_odd_texts_are_refused_like_syntax_errors(text: str) -> None:
    with pytest.raises(Unparsable):
        parse(text)


def test_an_empty_text_is_an_empty_module() -> None:
    for text in ("", "\n", "# c", "\ufeff", "\x0c", "\r"):
        assert read(text).assignments == ()


def test_chosen_nodes_have_spans() -> None:
    text = "\ufeffx = 1\nscaler = (torch.cuda.amp.GradScaler)()  # \u00e9\n"
    tree = parse_tree(text)
    call = tree.body[1].body[0].value  # type: ignore[union-attr,index]
    found = positions(tree)
    assert cut(text, Span(*found[call])) == "(torch.cuda.amp.GradScaler)()"
    assert cut(text, Span(*found[call.func])) == "(torch.cuda.amp.GradScaler)"


PIECES = st.sampled_from(
    [
        "x = 1",
        "y = 'a'",
        "# c",
        "\n",
        "\r\n",
        "\r",
        "\x0c",
        "\t",
        " ",
        ";",
        "\\\n",
        "\\\r\n",
        "(",
        ")",
        "'''",
        "#\\",
        "\u00e9",
        "\N{ROCKET}",
        "f'{",
        "}'",
        "if x:",
        "a, b = 1, 2",
        ":",
        "=",
        "x",
        "+",
    ]
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_whatever_parses_has_exact_spans(text: str) -> None:
    with contextlib.suppress(Unparsable, TooComplex):
        read(text)
