"""A Python file as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.source import from_ast
from nanolint.source.follow import follow
from nanolint.source.values import TooComplex, Unparsable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import libcst

    from nanolint.source.assignments import Module
    from nanolint.source.follow import StarImport
    from nanolint.source.syntax import Tree
    from nanolint.source.values import Value

__all__ = ["TooComplex", "Unparsable", "parse", "parse_tree", "positions"]


def parse(
    text: str,
    environment: Mapping[str, Value] | None = None,
    star_import: StarImport | None = None,
) -> Module:
    """Read ``text`` as a config. Raises Unparsable or TooComplex.

    ``environment`` are names that exist before the file runs; ``star_import`` gives the names of
    a module, None where it cannot be found.
    """
    try:
        return follow(text, lower(text), environment or {}, star_import)
    except RecursionError:
        raise TooComplex("its code is nested too deeply") from None


def lower(text: str) -> Tree:
    """The neutral tree of ``text``: by ast where that is enough, which libcst's import alone would
    outlast, else by libcst. Raises Unparsable or TooComplex."""
    plain = from_ast.lower(text)
    if plain is not None:
        return plain
    from nanolint.source import from_libcst

    return from_libcst.lower(text)


def parse_tree(text: str) -> libcst.Module:
    """The concrete syntax tree of ``text``. Raises Unparsable or TooComplex."""
    from nanolint.source import tree

    return tree.parse_tree(text)


def positions(module: libcst.Module) -> dict[libcst.CSTNode, tuple[int, int]]:
    """The characters that each node takes in the text of ``module``, from first to behind last."""
    from nanolint.source import tree

    return tree.positions(module)
