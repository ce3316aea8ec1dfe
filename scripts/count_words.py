"""Counts words in docstrings and messages that cost a second reading; each count may only fall.

``python scripts/count_words.py`` fails if a count rises; with words, it lists where they stand:
``python scripts/count_words.py behind``.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
FOLDERS = ("nanolint", "rules/nanolint_rules")


class Word(NamedTuple):
    """A word to count: how often it stands there today, and what to write for it."""

    most: int
    better: str
    pattern: str


WORDS = {
    "What": Word(514, "say what the function returns or does", r"\AWhat "),
    "behind": Word(76, "after", r"\bbehind\b"),
    "where": Word(811, "if", r"(?<![.\w])where\b(?!\()"),
    "but for": Word(19, "except", r"\bbut for\b"),
    "beside": Word(63, "next to, in addition to", r"\bbeside\b"),
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
LEAST_SPACES = 2  # in a literal that is a message


def texts(tree: ast.AST) -> Iterator[tuple[int, str, bool]]:
    """Yields docstrings and messages: the line, the text, and whether it is a docstring."""
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            docstrings.add(id(node.body[0].value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            is_docstring = id(node) in docstrings
            if is_docstring or node.value.count(" ") >= LEAST_SPACES:
                yield node.lineno, node.value, is_docstring


def main() -> None:
    """Compare every count with its limit."""
    found: dict[str, list[str]] = {name: [] for name in WORDS}
    for path in sorted(path for each in FOLDERS for path in (ROOT / each).rglob("*.py")):
        for line, text, is_docstring in texts(ast.parse(path.read_text(encoding="utf-8"))):
            for name, word in WORDS.items():
                if is_docstring or name != "What":
                    at = f"{path.relative_to(ROOT)}:{line}"
                    found[name] += [at] * len(re.findall(word.pattern, text, re.IGNORECASE))
    rises = False
    for name, word in WORDS.items():
        count = len(found[name])
        if name in sys.argv[1:]:
            print("\n".join(found[name]))
        if count > word.most:
            rises = True
            print(f"{name!r} stands in {count} places, not {word.most}; say: {word.better}")
        elif count < word.most:
            print(f"{name!r}: lower {word.most} to {count} in scripts/count_words.py")
    sys.exit(rises)


if __name__ == "__main__":
    main()
