"""Where a train.py takes any text for a key."""

from __future__ import annotations

import ast

import pytest

from nanolint.trainers.nanogpt.script_project import open_choices


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("if m == 'a':\n    f()\nelse:\n    g(m)\n", {"m"}),
        ("if m == 'a':\n    f()\nelif m.startswith('b'):\n    f()\nelse:\n    g(m)\n", {"m"}),
        ("if m in {'a', 'b'}:\n    f()\nelse:\n    g(m)\n", {"m"}),
        ("if m == 'a':\n    f()\nelif m == 'b':\n    f()\n", set()),
        ("if m == 'a':\n    f()\nelse:\n    raise ValueError(m)\n", set()),
        ("if m == 'a':\n    f()\nelse:\n    print(m)\n    sys.exit(1)\n", set()),
        ("if m == 'a':\n    f()\nelse:\n    assert False, m\n", set()),
        ("if m > 3:\n    f()\nelse:\n    g(m)\n", set()),
        ("if m == 'a':\n    f()\nelse:\n    g(m)\nt = {'a': 1}[m]\n", set()),
    ],
)
def test_names(text: str, names: set[str]) -> None:
    assert open_choices(ast.parse(text)) == names
