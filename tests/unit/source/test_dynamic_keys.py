"""What only a run can decide is never taken for known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.source.parse import parse
from nanolint.source.values import Known, Unknown, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.source.assignments import Module


def dynamic(text: str) -> dict[str, str]:
    return dict(parse(text).dynamic)


@pytest.mark.parametrize(
    ("statement", "keyword"),
    [
        ("if f():\n    b = 2\n", "if"),
        ("if f():\n    pass\nelse:\n    b = 2\n", "if"),
        ("if f():\n    pass\nelif g():\n    b = 2\n", "if"),
        ("for b in f(): pass\n", "for"),
        ("for i in (1, 2):\n    b = i\n", "for"),
        ("for i in f(): b += 1\n", "for"),
        ("while f(): b = 2\n", "while"),
        ("with f() as b: pass\n", "with"),
        ("with f():\n    b, c = 2, 3\n", "with"),
        ("try:\n    b = 2\nexcept E: pass\n", "try"),
        ("try: pass\nexcept E as b: pass\n", "try"),
        ("try: pass\nfinally: del b\n", "try"),
        ("if f():\n    import b\n", "if"),
        ("if f():\n    from m import x as b\n", "if"),
        ("if f():\n    def b(): pass\n", "if"),
        ("if f():\n    class b: pass\n", "if"),
        ("if (b := f()): pass\n", "if"),
        ("match f():\n    case [b]: pass\n", "match"),
        ("match f():\n    case {'a': 1, **b}: pass\n", "match"),
        ("match f():\n    case C(x=b): pass\n", "match"),
        ("match f():\n    case [*b]: pass\n", "match"),
    ],
)
def test_a_key_set_under_a_condition_is_dynamic(statement: str, keyword: str) -> None:
    module = parse(f"b = 1\n{statement}")
    reason = f"set under `{keyword}` on line 2"
    assert dict(module.dynamic)["b"] == reason
    assert module.final["b"] == Unknown(reason)
    assert [a.value for a in module.assignments] == [Known(1)]


def test_the_line_in_the_reason_is_that_of_the_statement() -> None:
    assert dynamic("# c\n\n# d\nif f():\n    b = 2\n")["b"] == "set under `if` on line 4"


def test_a_later_assignment_settles_the_key() -> None:
    module = parse("if f():\n    b = 2\nb = 3\n")
    assert module.dynamic == ()
    assert module.final["b"] == Known(3)


@pytest.mark.parametrize(
    "statement",
    [
        "def f():\n    b = 2\n",
        "class C:\n    b = 2\n",
        "x = [b for b in f()]\n",
        "x = lambda b: b\n",
        "f(b=2)\n",
        "o.b = 2\n",
        "o['b'] = 2\n",
        "async def f():\n    for b in g(): pass\n",
        "def f(b=1): pass\n",
        "global b\n",
    ],
)
def test_what_does_not_bind_the_global_leaves_it_known(statement: str) -> None:
    module = parse(f"b = 1\n{statement}")
    assert module.final["b"] == Known(1)
    assert "b" not in dict(module.dynamic)


def test_a_function_that_declares_a_key_global_may_run_at_any_time() -> None:
    module = parse("def f():\n    global b\n    b = 2\nb = 1\nf()\n")
    assert dict(module.dynamic)["b"] == "set by a function at run time, see line 1"
    assert isinstance(module.final["b"], Unknown)
    assert module.assignments[0].value == Known(1)


@pytest.mark.parametrize(
    "statement",
    [
        "globals()['b'] = 2",
        "globals().update(b=2)",
        "globals().setdefault('b', 2)",
        "g = globals()",
        "f(globals())",
        "g = globals",
        "vars()['b'] = 2",
        "locals()['b'] = 2",
        "exec('b = 2')",
        "x = eval('f()')",
        "setattr(sys.modules[__name__], 'b', 2)",
        "import __main__",
        "del globals()['b']",
        "def f():\n    globals()['b'] = 2",
        "if f():\n    exec('b = 2')",
        "from m import *",
    ],
)
def test_what_may_write_any_name_makes_every_name_unknown(statement: str) -> None:
    module = parse(f"b = 1\n{statement}\nc = 2\nd = missing\ne = min(1, 2)\n")
    reason = dict(module.dynamic)["*"]
    assert "line 2" in reason
    assert module.final["b"] == Unknown(reason)
    assert module.final["c"] == Known(2)  # after it: settled
    assert module.final["d"] == Unknown(reason)
    assert isinstance(module.final["e"], Unknown)  # min may be another one now


@pytest.mark.parametrize(
    "statement",
    [
        "keys = [k for k, v in globals().items() if not k.startswith('_')]",
        "config = {k: globals()[k] for k in keys}",
        "x = 'b' in globals()",
        "print(len(globals()), dict(globals()), globals().get('b'))",
        "x = vars(args)",
        "setattr(args, 'b', 2)",
        "x = sys.argv[1]",
    ],
)
def test_looking_at_the_globals_changes_nothing(statement: str) -> None:
    assert "*" not in dynamic(f"b = 1\n{statement}\n")


@pytest.mark.parametrize(
    "statement",
    [
        "l.append(2)",
        "l[0] = 2",
        "l += [2]",
        "f(l)",
        "m.l[0] = l",
        "for i in l: l.pop()",
        "del l[0]",
    ],
)
def test_lists_that_may_change_are_forgotten(statement: str) -> None:
    module = parse(f"l = [1]\nalias = l\n{statement}\nx = l[0]\n")
    assert isinstance(module.final["l"], Unknown)
    assert isinstance(module.final["alias"], Unknown)
    assert isinstance(module.final["x"], Unknown)


def test_lists_that_are_only_read_stay_known() -> None:
    module = parse("l = [1, 2]\nn = len(l)\nprint(l)\nx = max(l) + l[0]\n")
    assert module.final["x"] == Known(3)


def test_a_walrus_makes_its_name_dynamic() -> None:
    module = parse("b = 1\nx = (b := 2) + b\n")
    assert dict(module.dynamic)["b"] == "set by := on line 2"
    assert isinstance(module.final["x"], Unknown)


def test_a_deleted_name_is_unknown() -> None:
    assert parse("b = 1\ndel b\n").final["b"] == Unknown("deleted on line 2")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a = 1\nif a == 1:\n    b = 2\nelse:\n    b = 3\n", 2),
        ("a = 1\nif a == 2:\n    b = 2\nelse:\n    b = 3\n", 3),
        ("a = 1\nif a == 2: b = 2\nelif a == 1: b = 4\nelse: b = 3\n", 4),
        ("if True:\n    if not False:\n        b = 5\n", 5),
        ("b = 1\nif False:\n    b = f()\n    exec('')\n", 1),
    ],
)
def test_an_if_with_a_known_test_is_followed(text: str, value: int) -> None:
    module = parse(text)
    assert module.final["b"] == Known(value)
    assert module.dynamic == ()
    assert all(a.shared for a in module.assignments if a.statement.start > text.index("if"))


def imported(text: str, found: dict[str, Mapping[str, Value]]) -> Module:
    return parse(text, None, found.get)


BASE: dict[str, Mapping[str, Value]] = {"config.base": {"b": Known(8), "n": Unknown("calls f")}}


def test_a_star_import_brings_its_names_in() -> None:
    module = imported("from config.base import *\nc = b * 2\n", BASE)
    assert module.imported == (("b", Known(8)), ("n", Unknown("calls f")))
    assert module.final == {"b": Known(8), "n": Unknown("calls f"), "c": Known(16)}
    assert module.dynamic == ()


def test_the_later_of_import_and_assignment_wins() -> None:
    assert imported("b = 1\nfrom config.base import *\n", BASE).final["b"] == Known(8)
    assert imported("from config.base import *\nb = 1\n", BASE).final["b"] == Known(1)


def test_named_imports_take_what_they_name() -> None:
    module = imported("from config.base import b as x, missing\n", BASE)
    assert module.final == {"x": Known(8), "missing": Unknown("imported from config.base")}


def test_relative_imports_keep_their_dots() -> None:
    seen: list[str] = []

    def star_import(name: str) -> None:
        seen.append(name)

    parse("from . import a\nfrom ..base import *\n", None, star_import)
    assert seen == [".", "..base"]


def test_classes_are_not_worth_reading_their_module() -> None:
    def star_import(name: str) -> None:
        raise AssertionError(name)

    module = parse(
        "from model import GPT, GPTConfig\nimport os.path as p, sys\n", None, star_import
    )
    assert set(module.final) == {"GPT", "GPTConfig", "p", "sys"}
    assert module.dynamic == ()


def test_future_imports_are_no_imports() -> None:
    assert parse("from __future__ import annotations\nx = 1\n").imported == ()
