"""Where a script touches environment variables by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    import libcst as cst

    from nanolint_rules.torch._names import Names
else:
    from nanolint_rules.torch import _cst as cst

FUNCTIONS = {"os.putenv": True, "os.getenv": False}  # whether they write
METHODS = {"setdefault": True, "get": False, "pop": False}


class Access(NamedTuple):
    """A variable, where its name stands, and whether it may be given a value there."""

    variable: str
    name: cst.SimpleString
    writes: bool


def accesses(resolved: Names) -> Iterator[Access]:
    """Every use of a variable whose name is a plain string."""
    for reference in resolved.references({"os.environ"}):
        parent, grandparent, *_ = resolved.ancestors(reference.node)
        if isinstance(parent, cst.Subscript) and parent.value is reference.node:
            index = parent.slice[0].slice
            assigned = isinstance(grandparent, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign))
            if isinstance(index, cst.Index):
                yield from _access(index.value, writes=assigned)
        elif isinstance(parent, cst.Attribute) and isinstance(grandparent, cst.Call):
            if parent.attr.value in METHODS and grandparent.args:
                yield from _access(grandparent.args[0].value, writes=METHODS[parent.attr.value])
        elif isinstance(parent, cst.ComparisonTarget) and isinstance(grandparent, cst.Comparison):
            yield from _access(grandparent.left, writes=False)
    for use in resolved.uses(FUNCTIONS):
        if use.call.args:
            yield from _access(use.call.args[0].value, writes=FUNCTIONS[use.qualified])


def _access(name: cst.BaseExpression, *, writes: bool) -> Iterator[Access]:
    if isinstance(name, cst.SimpleString) and isinstance(name.evaluated_value, str):
        yield Access(name.evaluated_value, name, writes)
