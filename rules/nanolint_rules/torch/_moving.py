"""Edits for a function that torch moved: its calls, and the import that they leave behind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from nanolint.rule import Edit
from nanolint_rules.torch._names import all_in, found_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import libcst as cst

    from nanolint.rule import Context, Span
    from nanolint_rules.torch._names import Names, Reference

    _Reference = TypeVar("_Reference", bound=Reference)
else:
    from nanolint_rules.torch import _cst as cst


def move(
    context: Context, names: Names, uses: Sequence[Reference], targets: Mapping[str, str]
) -> list[Edit] | None:
    """Make ``uses``, a group, mean what ``targets`` has for them. None when that takes a human.

    A function imported by name is imported from its new home; any other is called through
    ``torch``, which is imported where it is not.
    """
    first = uses[0]
    if first.imported == "torch":
        return _respelled(context, uses, first.first_name, targets)
    if first.imported == first.qualified:
        return _moved_import(context, uses, targets) if _alone(uses) else None
    torch = names.name_of("torch", first.node)
    edits = _respelled(context, uses, torch or "torch", targets)
    if edits is None:
        return None
    if torch is None:
        added = _added_line(context, first, "import torch")
        if added is None:
            return None
        edits.append(added)
    return [*edits, *_removed_import(context, names, first)] if _alone(uses) else edits


def replace_import(
    context: Context, names: Names, uses: Sequence[Reference], line: str | None
) -> list[Edit] | None:
    """Bring in ``line`` (None: it is there) and take out what nothing but ``uses`` needed."""
    first = uses[0]
    if first.imported == "torch" or not _alone(uses):
        removed = []
    elif line is not None and len(_aliases(first.statement)) == 1:
        span = context.spans([first.statement])[first.statement]
        lost = context.text[span.start : span.end]
        return None if "#" in lost else [Edit(span.start, span.end, line)]
    else:
        removed = _removed_import(context, names, first)
    if line is None:
        return removed
    added = line_below(context, first.statement, line)
    return [*removed, added] if added else None


def groups(uses: Iterable[_Reference]) -> Iterator[list[_Reference]]:
    """Uses to be changed together: those of one import; a use through ``torch`` is on its own.

    An import of several functions is one where all of them are used, else one for each.
    """
    uses = list(uses)
    names: dict[int, set[str]] = {}
    for use in uses:
        names.setdefault(id(use.statement), set()).add(use.first_name)
    shared: dict[int, list[_Reference]] = {}
    for use in uses:
        whole = len(names[id(use.statement)]) == len(_aliases(use.statement))
        key = id(use.statement) if whole else id(use.binding)
        shared.setdefault(id(use.node) if use.imported == "torch" else key, []).append(use)
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
    gap = _opening(context.text, start) or " "
    return Edit(start, start, f"{literal},{gap}{before}")


def quoted(context: Context, word: str) -> str:
    """``word`` as a string literal, in the quotes that the file prefers."""
    quote = '"' if context.text.count('"') > context.text.count("'") else "'"
    return f"{quote}{word}{quote}"


def append_argument(context: Context, call: cst.Call, argument: str) -> list[Edit]:
    """Put ``argument`` behind the last one, on a line of its own where that has one."""
    if not call.args:
        return [insert_argument(context, call, argument)]
    last = call.args[-1]
    spans = context.spans([last, last.value])
    start, end = spans[last].start, spans[last.value].end
    opening = _opening(context.text, start)
    rest = re.compile(r"(,?)[ \t]*(?:#[^\r\n]*)?(?=[\r\n])").match(context.text, end)
    if not opening or rest is None:
        return [Edit(end, end, f", {argument}")]
    line = f"{opening}{argument}"
    if rest.end() == end:
        return [Edit(end, end, f",{line}")]
    added = Edit(rest.end(), rest.end(), f"{line}{rest[1]}")  # below the last argument's comment
    return [added] if rest[1] else [Edit(end, end, ","), added]


def line_below(context: Context, statement: cst.CSTNode, line: str) -> Edit | None:
    """Put ``line`` below a statement, None where that shares its line with another."""
    span = context.spans([statement])[statement]
    indent = context.text[_line_start(context.text, span.start) : span.start]
    rest = re.compile(r"[ \t]*;?[ \t]*(?:#[^\r\n]*)?(\r\n|\r|\n|\Z)").match(context.text, span.end)
    if indent.strip() or rest is None:
        return None
    if rest[1]:
        return Edit(rest.end(), rest.end(), f"{indent}{line}{rest[1]}")
    newline = re.search(r"\r\n|\r|\n", context.text)
    above = newline[0] if newline else "\n"
    return Edit(rest.end(), rest.end(), f"{above}{indent}{line}")


def removed_line(context: Context, names: Names, statement: cst.CSTNode) -> Edit | None:
    """Take away a statement with its line; None where that would cost a comment or leave a hole."""
    span = context.spans([statement])[statement]
    line = re.compile(r"[ \t]*(\r\n|\r|\n|\Z)").match(context.text, span.end)
    start = _line_start(context.text, span.start)
    before, inside = context.text[start : span.start], context.text[span.start : span.end]
    if line is None or before.strip() or "#" in inside or names.siblings(statement) < 2:
        return None
    return Edit(start, line.end(), "")


def moved_above(
    context: Context, block: cst.IndentedBlock, moved: cst.CSTNode, place: cst.CSTNode
) -> tuple[Edit, ...] | None:
    """Move a statement of ``block``, with its comments, above an earlier one.

    None where that one or another between them gives a value to a name that it reads, or where
    it shares its line.
    """
    statements: list[cst.CSTNode] = list(block.body)
    first, last = statements.index(place), statements.index(moved)
    if isinstance(moved, cst.SimpleStatementLine) and len(moved.body) > 1:
        return None
    between = {
        name.value
        for statement in statements[first:last]
        for target in _targets(statement)
        for name in found_in(target, cst.Name)
    }
    if between & {name.value for name in found_in(moved, cst.Name)}:
        return None
    spans = context.spans([moved, place])
    start, end = _own_lines(context.text, spans[moved])
    above, _ = _own_lines(context.text, spans[place])
    return Edit(above, above, context.text[start:end]), Edit(start, end, "")


def _targets(statement: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """What a statement, or one inside it, gives values to."""
    bound = (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.NamedExpr, cst.For)
    for node in all_in(statement):
        if isinstance(node, bound):
            yield node.target


def _own_lines(text: str, span: Span) -> tuple[int, int]:
    """The lines of a statement, with the comments right above it, but no empty line."""
    blank = list(re.finditer(r"(?m)^[ \t]*(?:\r\n|\r|\n)", text[span.start : span.end]))
    code = re.search(r"(?m)^[ \t]*[^#\s]", text[span.start : span.end])
    ends = [match.end() for match in blank if code and match.end() <= code.start()]
    return span.start + max(ends, default=0), span.end


def _alone(uses: Sequence[Reference]) -> bool:
    """Whether nothing else needs what ``uses`` import."""
    return sum(len(each.references) for each in {use.binding for use in uses}) <= len(uses)


def _respelled(
    context: Context, uses: Sequence[Reference], torch: str, targets: Mapping[str, str]
) -> list[Edit] | None:
    spans = context.spans([use.node for use in uses])
    texts = [context.text[span.start : span.end] for span in spans.values()]
    if any(not re.fullmatch(r"[\w.]+", text) for text in texts):
        return None  # spread over lines, perhaps with comments
    return [
        Edit(
            spans[use.node].start,
            spans[use.node].end,
            f"{torch}.{targets[use.qualified].removeprefix('torch.')}",
        )
        for use in uses
    ]


def _moved_import(
    context: Context, uses: Sequence[Reference], targets: Mapping[str, str]
) -> list[Edit] | None:
    """Import the functions from where they are now, under the names that their calls use."""
    use = uses[0]
    statement = use.statement
    home, _, name = targets[use.qualified].rpartition(".")
    if not isinstance(statement, cst.ImportFrom) or statement.module is None:
        return None
    if len(_aliases(statement)) == len({each.first_name for each in uses}):
        span = context.spans([statement.module])[statement.module]
        return [Edit(span.start, span.end, home)]
    renamed = f" as {use.first_name}" if use.first_name != name else ""
    added = _added_line(context, use, f"from {home} import {name}{renamed}")
    removed = _removed_alias(context, use)
    return [added, removed] if added and removed else None


def _removed_import(context: Context, names: Names, use: Reference) -> list[Edit]:
    """Take away an import that nothing uses any more; it stays where that would cost a comment."""
    statement = use.statement
    if len(_aliases(statement)) > 1:
        removed = _removed_alias(context, use)
    else:
        removed = removed_line(context, names, statement)
    return [removed] if removed else []


def _removed_alias(context: Context, use: Reference) -> Edit | None:
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


def _added_line(context: Context, use: Reference, line: str) -> Edit | None:
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


def _opening(text: str, offset: int) -> str:
    """The newline and the indentation before ``offset``; nothing where a line does not start."""
    start = _line_start(text, offset)
    if text[start:offset].strip(" \t") or not start:
        return ""
    return text[start - (2 if text.startswith("\r\n", start - 2) else 1) : offset]


def _line_start(text: str, offset: int) -> int:
    start = text.rfind("\n", 0, offset) + 1
    return max(start, text.rfind("\r", start, offset) + 1)
