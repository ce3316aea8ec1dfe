"""Names that statements read, set and change in place, by their syntax alone."""

from __future__ import annotations

import ast
from typing import TypeGuard

from nanolint.source.python import of_node

# Methods of Python's own dictionaries, lists and sets that change nothing.
LOOKS = frozenset(
    {
        *("get", "items", "keys", "values", "copy", "index", "count", "union", "intersection"),
        *("difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint"),
    }
)


@of_node
def loaded(node: ast.AST) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            each.id
            for each in ast.walk(node)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
        )
    )


@of_node
def asked(node: ast.AST) -> tuple[tuple[str, str | None], ...]:
    """The names that are asked for; with what alone is asked of them: ``rate`` of ``args.rate``."""
    found: dict[tuple[str, str | None], None] = {}
    unseen = [node]
    while unseen:
        each = unseen.pop()
        owner = each.value if isinstance(each, ast.Attribute) else None
        if isinstance(each, ast.Attribute) and isinstance(owner, ast.Name):
            found[owner.id, each.attr] = None
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            found[each.id, None] = None
        else:
            unseen += reversed(list(ast.iter_child_nodes(each)))
    return tuple(found)


@of_node
def told_to(node: ast.AST) -> dict[str, tuple[tuple[str, int], ...]]:
    """The names that are asked for to be compared alone, as in ``device == "cuda"``, or to be
    passed to functions, with these and the places that they have there."""
    told: dict[int, tuple[tuple[str, int], ...]] = {}
    for each in ast.walk(node):
        if isinstance(each, ast.Compare):
            parts = [each.left, *each.comparators]
            if all(isinstance(part, (ast.Name, ast.Constant)) for part in parts):
                told |= {id(part): () for part in parts}
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Name):
            told |= {id(part): ((each.func.id, at),) for at, part in enumerate(each.args)}
    found: dict[str, tuple[tuple[str, int], ...]] = {}
    others: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and id(each) in told:
            found[each.id] = (*found.get(each.id, ()), *told[id(each)])
        elif isinstance(each, ast.Name):
            others.add(each.id)
    return {name: places for name, places in found.items() if name not in others}


@of_node
def leaves(node: ast.stmt) -> bool:
    """Whether a statement could end the function that it stands in, or yield."""
    unseen: list[ast.AST] = [node]
    while unseen:
        each = unseen.pop()
        if isinstance(each, (ast.Return, ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(each, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            unseen += ast.iter_child_nodes(each)
    return False


@of_node
def jumps(node: ast.stmt) -> bool:
    """Whether the loop that a statement stands in could end there, or go on with its next turn."""
    unseen: list[ast.AST] = [node]
    while unseen:
        each = unseen.pop()
        if isinstance(each, (ast.Break, ast.Continue)):
            return True
        if isinstance(each, (ast.For, ast.While)):
            unseen += each.orelse
        elif not isinstance(each, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            unseen += ast.iter_child_nodes(each)
    return False


@of_node
def filled(node: ast.stmt) -> tuple[ast.Subscript, ...]:
    """Returns the elements that a statement fills with numbers, if it does nothing else."""
    if isinstance(node, (ast.For, ast.While, ast.If)):
        parts = [filled(each) for each in (*node.body, *node.orelse)]
        return tuple(each for part in parts for each in part) if all(parts) else ()
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, value = node.targets[0], node.value
        value = value.operand if isinstance(value, ast.UnaryOp) else value
        is_number = isinstance(value, ast.Constant) and isinstance(value.value, (int, float))
        if isinstance(target, ast.Subscript) and (is_number or _is_worked_out(value)):
            return (target,)
    return ()


def _is_worked_out(node: ast.expr) -> bool:
    """``math.exp(x)``, ``float(x)``: a number of Python's."""
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    return called == "float" or called.startswith("math.")


@of_node
def called(node: ast.stmt) -> tuple[str, ...]:
    """Names that are called."""
    return tuple(
        each.func.id
        for each in ast.walk(node)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
    )


@of_node
def stored(node: ast.AST) -> tuple[str, ...]:
    """The names that a statement sets."""
    return tuple(dict.fromkeys(each.id for each in ast.walk(node) if _is_stored(each)))


@of_node
def set_to_numbers(node: ast.stmt) -> tuple[str, ...]:
    """The names that are set to whole numbers alone, or to true and false: ``last = True``,
    ``ignored = -100``, ``count += 1``."""
    names = dict.fromkeys(stored(node), 0)
    for each in ast.walk(node):
        if isinstance(each, ast.Assign) and len(each.targets) == 1:
            target, value = each.targets[0], each.value
            value = value.operand if isinstance(value, ast.UnaryOp) else value
            plain = isinstance(value, ast.Constant) and isinstance(value.value, int)
            if isinstance(target, ast.Name) and plain:
                names[target.id] += 1
        elif isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            by = isinstance(each.value, ast.Constant) and isinstance(each.value.value, int)
            if by and isinstance(each.op, (ast.Add, ast.Sub, ast.Mult)):
                names[each.target.id] += 1
    stores = [each.id for each in ast.walk(node) if _is_stored(each)]
    return tuple(name for name, plainly in names.items() if stores.count(name) == plainly)


def _is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


@of_node
def set_by_place(node: ast.stmt) -> frozenset[str]:
    """Names of which a statement sets single elements and does nothing else to them: a list among
    them is as long as before."""
    elements: set[str] = set()
    otherwise: set[str] = set()
    looked_at: set[int] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name):
            looked_at.add(id(each.value))
            if not isinstance(each.ctx, ast.Load):
                is_one = isinstance(each.ctx, ast.Store) and not isinstance(each.slice, ast.Slice)
                (elements if is_one else otherwise).add(each.value.id)
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Name):
            if each.func.id in ("len", "min", "max", "range"):
                looked_at |= {id(given) for given in each.args}
        elif isinstance(each, ast.Name) and id(each) not in looked_at:
            otherwise.add(each.id)
    return frozenset(elements - otherwise)


def may_change(called: ast.expr) -> TypeGuard[ast.Attribute]:
    """Whether a call is that of a method which may change what it is a method of."""
    return isinstance(called, ast.Attribute) and called.attr not in LOOKS


@of_node
def changed_of(node: ast.AST) -> tuple[tuple[str, str], ...]:
    """Returns the attributes of an object that may be changed in place:
    ``self.pairs.append(...)``."""
    found: dict[tuple[str, str], None] = {}
    for each in ast.walk(node):
        held: ast.expr | None = None
        if isinstance(each, ast.Call) and may_change(each.func):
            held = each.func.value
        elif isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store):
            held = each.value
        if isinstance(held, ast.Attribute) and isinstance(held.value, ast.Name):
            found[held.value.id, held.attr] = None
    return tuple(found)


@of_node
def changed(node: ast.AST) -> tuple[str, ...]:
    """Names of what may be changed in place: by a method, by an index, in a call."""
    found: dict[str, None] = {}
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            if may_change(each.func) and isinstance(each.func.value, ast.Name):
                found[each.func.value.id] = None
        elif (
            isinstance(each, ast.Subscript)
            and isinstance(each.ctx, ast.Store)
            and isinstance(each.value, ast.Name)
        ):
            found[each.value.id] = None
    return tuple(found)
