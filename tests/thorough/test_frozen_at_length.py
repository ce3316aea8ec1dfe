"""nanolint's quick frozen classes are those of the standard library, but for the time they take.

These take seconds each.
"""

from __future__ import annotations

import ast

from tests.unit.test_frozen import PACKAGE


def test_the_frozen_classes_of_the_package_are_quick_ones() -> None:
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        slow = any(
            isinstance(node, ast.ImportFrom)
            and node.module == "dataclasses"
            and "dataclass" in [alias.name for alias in node.names]
            for node in tree.body
        )
        wanted = any(
            isinstance(node, ast.ClassDef)
            and any("frozen=True" in ast.unparse(each) for each in node.decorator_list)
            for node in ast.walk(tree)
        )
        assert not (slow and wanted), f"{path}: import dataclass from nanolint.frozen"
