"""Suppressions: read from any text; and those that are added silence what they are added for."""

from __future__ import annotations

import ast

from harness import run, text_of, watched

with watched():
    from nanolint import registry
    from nanolint.engine import Setup, lint
    from nanolint.ignoring import UNSILENCEABLE, add_ignores
    from nanolint.plan import make_plan
    from nanolint.settings import Sourced
    from nanolint.source.parse import Unparsable, parse
    from nanolint.source.scan import TooComplex

SETUP: Setup = make_plan(Sourced(), {"NANOLINT_GPU": "1GiB"}).setup(None)
KNOWN = frozenset(rule.code for rule in registry.load().rules)
HEAD = "block_size = 64\nbatch_size = 4.0\nlearnin_rate = 1\n"


def comments(text: str) -> list[str]:
    return [text[each.span.start : each.span.end] for each in parse(text, {}, None).comments]


def one_input(data: bytes) -> None:
    text = HEAD + text_of(data)
    try:
        before = comments(text)
    except (Unparsable, TooComplex):
        return
    report = lint(text, None, SETUP)
    assert {each.code for each in report.diagnostics} <= KNOWN
    found = [each for each in report.diagnostics if each.code not in UNSILENCEABLE]
    silenced = add_ignores(text, found, report.comments)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    assert ast.dump(ast.parse(silenced)) == ast.dump(tree)
    assert len(comments(silenced)) >= len(before)


if __name__ == "__main__":
    run(one_input)
