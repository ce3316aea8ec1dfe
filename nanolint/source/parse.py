"""A Python file as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.source.follow import Follower
from nanolint.source.scan import TooComplex
from nanolint.source.tree import Unparsable, parse_tree, parse_with_spans, spans

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    tree, positions = parse_with_spans(text)
    follower = Follower(text, positions, environment or {}, star_import)
    try:
        follower.follow(tree.body)
        return follower.module(tree)
    except RecursionError:
        raise TooComplex("its code is nested too deeply") from None
