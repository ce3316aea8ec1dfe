"""An argument that is added to a call as it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.verdict.ways.edited import Edit

if TYPE_CHECKING:
    import ast

    from nanolint.verdict.ways.edited import Text


def added(text: Text, call: ast.Call, argument: str) -> Edit:
    """``argument`` behind the others of a call that has some."""
    end = text.span(call).end - 1
    last = max(text.span(each).end for each in (*call.args, *call.keywords))
    comma = "," in text.between(last, end)
    return Edit(end, end, argument if comma else f", {argument}")
