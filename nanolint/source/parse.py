"""A Python file as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.source.plain import read_plain
from nanolint.source.refusals import TooComplex, Unparsable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import libcst

    from nanolint.diagnostics import Span
    from nanolint.source.assignments import Module
    from nanolint.source.follow import StarImport
    from nanolint.source.values import Value

__all__ = ["TooComplex", "Unparsable", "parse", "parse_tree", "spans"]


def parse(
    text: str,
    environment: Mapping[str, Value] | None = None,
    star_import: StarImport | None = None,
) -> Module:
    """Read ``text`` as a config. Raises Unparsable or TooComplex.

    ``environment`` are names that exist before the file runs; ``star_import`` gives the names of
    a module, None where it cannot be found.
    """
    plain = read_plain(text, environment or {}, star_import)
    if plain is not None:
        return plain
    from nanolint.source.follow import Follower
    from nanolint.source.tree import parse_with_spans

    tree, positions = parse_with_spans(text)
    follower = Follower(text, positions, environment or {}, star_import)
    try:
        follower.follow(tree.body)
        return follower.module(tree)
    except RecursionError:
        raise TooComplex("its code is nested too deeply") from None


def parse_tree(text: str) -> libcst.Module:
    """The concrete syntax tree of ``text``. Raises Unparsable or TooComplex."""
    from nanolint.source import tree

    return tree.parse_tree(text)


def spans(module: libcst.Module, nodes: Iterable[libcst.CSTNode]) -> dict[libcst.CSTNode, Span]:
    """The characters that each of ``nodes`` takes in the text of ``module``."""
    from nanolint.source import tree

    return tree.spans(module, nodes)
