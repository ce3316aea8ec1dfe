"""Edits for a function that torch moved: its calls, and the import that they leave behind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from nanolint.rule import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nanolint.rule import Context
    from nanolint_rules.torch._names import Names, Use


def move(context: Context, names: Names, uses: Sequence[Use], target: str) -> list[Edit] | None:
    """Make ``uses``, which share an import, call ``target``. None when that takes a human.

    A function imported by name is imported from its new home; any other is called through
    ``torch``, which is imported where it is not.
    """
    first = uses[0]
    alone = len(first.binding.references) <= len(uses)  # nothing else needs the import
    if first.imported == "torch":
        return _respelled(context, uses, f"{first.first_name}.{_below_torch(target)}")
    if first.imported == first.qualified:
        return _moved_import(context, first, target) if alone else None
    torch = names.name_of("torch", first.scope)
    edits = _respelled(context, uses, f"{torch or 'torch'}.{_below_torch(target)}")
    if edits is None:
        return None
    if torch is None:
        added = _added_line(context, first, "import torch")
        if added is None:
            return None
        edits.append(added)
    return [*edits, *_removed_import(context, names, first)] if alone else edits


def groups(uses: Iterable[Use]) -> Iterator[list[Use]]:
    """Uses to be changed together: those of one import; a use through ``torch`` is on its own."""
    shared: dict[int, list[Use]] = {}
    for use in uses:
        key = id(use.call) if use.imported == "torch" else id(use.binding)
        shared.setdefault(key, []).append(use)
    yield from shared.values()


def insert_argument(context: Context, call: cst.Call, literal: str, before: str = "") -> Edit:
    """Put ``literal`` before the first argument, on a line of its own where that has one.

    ``before`` is written right before what was the first argument.
    """
    if not call.args:
        function = context.spans([call.func])[call.func]
        start = context.text.index("(", function.end) + 1
        return Edit(start, start, literal)
    start = context.spans([call.args[0]])[call.args[0]].start
    opening = re.search(r"[\r\n]+[ \t]*\Z", context.text[:start])
    gap = opening[0] if opening else " "
    return Edit(start, start, f"{literal},{gap}{before}")


def _below_torch(qualified: str) -> str:
    return qualified.removeprefix("torch.")


def _respelled(context: Context, uses: Sequence[Use], name: str) -> list[Edit] | None:
    functions = [use.call.func for use in uses]
    spans = context.spans(functions)
    texts = [context.text[span.start : span.end] for span in spans.values()]
    if any(not re.fullmatch(r"[\w.]+", text) for text in texts):
        return None  # spread over lines, perhaps with comments
    return [Edit(spans[each].start, spans[each].end, name) for each in functions]


def _moved_import(context: Context, use: Use, target: str) -> list[Edit] | None:
    """Import the function from where it is now, under the name that its calls use."""
    statement = use.statement
    home, _, name = target.rpartition(".")
    if not isinstance(statement, cst.ImportFrom) or statement.module is None:
        return None
    aliases = _aliases(statement)
    if len(aliases) == 1:
        span = context.spans([statement.module])[statement.module]
        return [Edit(span.start, span.end, home)]
    renamed = f" as {use.first_name}" if use.first_name != name else ""
    added = _added_line(context, use, f"from {home} import {name}{renamed}")
    removed = _removed_alias(context, use)
    return [added, removed] if added and removed else None


def _removed_import(context: Context, names: Names, use: Use) -> list[Edit]:
    """Take away an import that nothing uses any more; it stays where that would cost a comment."""
    statement = use.statement
    if len(_aliases(statement)) > 1:
        removed = _removed_alias(context, use)
        return [removed] if removed else []
    span = context.spans([statement])[statement]
    line = re.compile(r"[ \t]*(\r\n|\r|\n|\Z)").match(context.text, span.end)
    start = _line_start(context.text, span.start)
    if line is None or context.text[start : span.start].strip() or names.siblings(statement) < 2:
        return []
    return [Edit(start, line.end(), "")]


def _removed_alias(context: Context, use: Use) -> Edit | None:
    """Take one name out of an import of several."""
    aliases = _aliases(use.statement)
    ends: list[cst.CSTNode] = [alias.asname or alias.name for alias in aliases]
    spans = context.spans([*ends, *(alias.name for alias in aliases)])
    index = next((i for i, alias in enumerate(aliases) if _bound(alias) == use.first_name), None)
    if index is None:
        return None
    if index + 1 < len(aliases):
        start, end = spans[aliases[index].name].start, spans[aliases[index + 1].name].start
    else:
        start, end = spans[ends[index - 1]].end, spans[ends[index]].end
    return None if "#" in context.text[start:end] else Edit(start, end, "")


def _added_line(context: Context, use: Use, line: str) -> Edit | None:
    """Put ``line`` above the import, None when that does not start a line."""
    statement = use.statement
    position = context.spans([statement])[statement].start
    indent = context.text[_line_start(context.text, position) : position]
    newline = re.search(r"\r\n|\r|\n", context.text)
    if indent.strip() or newline is None:
        return None
    return Edit(position, position, f"{line}{newline[0]}{indent}")


def _aliases(statement: cst.Import | cst.ImportFrom) -> Sequence[cst.ImportAlias]:
    return () if isinstance(statement.names, cst.ImportStar) else statement.names


def _bound(alias: cst.ImportAlias) -> str:
    return alias.evaluated_alias or alias.evaluated_name


def _line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
