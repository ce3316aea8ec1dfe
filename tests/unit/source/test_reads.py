"""Where names are read, and whether only a text depends on it."""

from __future__ import annotations

import pytest

from nanolint.source.parse import parse


def reads(text: str) -> list[bool]:
    """For each read of ``b``: whether it is in a text."""
    return [read.in_text for read in parse(text).reads if read.name == "b"]


@pytest.mark.parametrize(
    "expression",
    [
        "f'{b}'",
        "f'run-{b * 2:>{b}}' if False else ''",
        "f'run-{b}' + '-x'",
        "'run' + str(b)",
        "'run' 'x' f'{b + 1}'",
        "repr(b)",
        "format(b, '03')",
        "'%d' % b",
        "'%d-%d' % (b, 2)",
        "'{}'.format(b)",
        "'{x}'.format(x=b + 1)",
        "os.path.join('out', f'bs{b}')",
        "'a' if True else str(b)",
        "('x', f'{b}')",
        "(f'{b}')",
    ],
)
def test_what_ends_in_a_string_is_a_text(expression: str) -> None:
    assert reads(f"x = {expression}\n")
    assert all(reads(f"x = {expression}\n"))
    assert all(reads(f"x: str = {expression}\n"))


@pytest.mark.parametrize(
    "expression",
    [
        "b",
        "b * 2",
        "-b",
        "int(f'{b}')",
        "len(str(b))",
        "f(f'{b}')",
        "f'{b}' == 'x'",
        "names[f'{b}']",
        "f'{b}'.upper()",
        "str(b) * 2",
        "f'x' if b else ''",
        "[b]",
        "{'a': b}",
        "b.real",
        "b[0]",
        "a[b:]",
        "(lambda: b)",
        "[x for x in b]",
        "[b for x in y]",
        "not b",
        "b < 3",
        "b and 1",
        "10 % b",
        "x % (b,)",
        "f(k=b)",
        "f(*b)",
        "(x := b)",
    ],
)
def test_what_may_end_elsewhere_is_none(expression: str) -> None:
    assert True not in reads(f"x = {expression}\n")
    assert reads(f"x = {expression}\n")


@pytest.mark.parametrize("statement", ["print(b)", "print(f'{b}', b * 2)", "f'{b}'"])
def test_what_is_only_shown_is_a_text(statement: str) -> None:
    assert set(reads(statement)) == {True}
    assert set(reads(f"def f():\n    if x:\n        {statement}\n")) == {True}


@pytest.mark.parametrize(
    "statement",
    [
        "if b: pass",
        "while b: pass",
        "for i in b: pass",
        "with b: pass",
        "assert b > 0",
        "def f(x=b): pass",
        "def f(): return b",
        "def f(x: b): pass",
        "class C(b): pass",
        "@b\ndef f(): pass",
        "b += 1",
        "b.x = 1",
        "b[0] = 1",
        "x: b = 1",
        "del b[0]",
        "raise b",
        "try: pass\nexcept b: pass",
        "match b:\n    case 1: pass",
        "match x:\n    case y if b: pass",
        "match x:\n    case b.c: pass",
        "match x:\n    case b(): pass",
        "type X = b",
        "if False:\n    x = b",
    ],
)
def test_reads_are_found_in_every_statement(statement: str) -> None:
    assert reads(statement) == [False]


@pytest.mark.parametrize(
    "statement",
    [
        "b = 1",
        "b: int = 1",
        "a.b = 1",
        "f(b=1)",
        "x = a.b",
        "for b in x: pass",
        "with x as b: pass",
        "import b",
        "from b import b as b",
        "def b(b): pass",
        "class b: pass",
        "del b",
        "global b",
        "def f():\n    nonlocal b",
        "[x for b in y]",
        "match x:\n    case b: pass",
        "match x:\n    case C(b=1): pass",
        "x = 'b'",
        "# b",
        "(b := 1)",
    ],
)
def test_other_places_of_a_name_are_no_reads(statement: str) -> None:
    assert reads(statement) == []
