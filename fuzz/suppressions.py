"""Suppressions: read from any text; and those that are added silence what they are added for."""

from __future__ import annotations

import ast

from harness import run, text_of, watched

with watched():
    from nanolint.linting import registry
    from nanolint.linting.engine import lint
    from nanolint.linting.plan import make_plan
    from nanolint.linting.setup import SYNTAX_ERROR, Setup
    from nanolint.linting.suppressing import UNSILENCEABLE, add_ignores
    from nanolint.settings.schema import Sourced
    from nanolint.source.parse import parse

SETUP: Setup = make_plan(Sourced(), {"NANOLINT_GPU": "1GiB"}).setup(None)
KNOWN = frozenset(rule.code for rule in registry.load().rules)
HEAD = "block_size = 64\nbatch_size = 4.0\nlearnin_rate = 1\n"


def one_input(data: bytes) -> None:
    text = HEAD + text_of(data)
    report = lint(text, None, SETUP)
    codes = {each.code for each in report.diagnostics}
    assert codes <= KNOWN
    if report.unjudged is not None or SYNTAX_ERROR in codes:
        return
    found = [each for each in report.diagnostics if each.code not in UNSILENCEABLE]
    silenced = add_ignores(text, found, report.comments)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    assert ast.dump(ast.parse(silenced)) == ast.dump(tree)
    assert len(parse(silenced, {}, None).comments) >= len(report.comments)


if __name__ == "__main__":
    run(one_input)
