"""Ways out by the logits: deleted once nobody reads them, or never made.

That is ``del logits`` after each call of the model whose logits nobody reads, and
``F.linear_cross_entropy`` in place of its head and its ``F.cross_entropy``.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nanolint.source.python import nodes
from nanolint.verdict.ways.edited import Edit, Edited, Scope, added, edited, imported, scopes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.run.program import ReadScript
    from nanolint.verdict.ways.edited import Text

# What is done with a loss, beside a backward pass.
MEASURED = frozenset({"item", "detach", "backward", "mean", "float", "cpu"})


class Deleted(NamedTuple):
    """The program, the names that it deletes, and the paths of the modules that do."""

    program: ReadScript
    names: tuple[str, ...]
    paths: tuple[str, ...]


def logits_deleted(program: ReadScript) -> Deleted | None:
    """``program`` with what the model gives beside the loss deleted where it was given."""
    deleted: dict[str, None] = {}

    def edits(text: Text) -> Iterator[Edit]:
        for scope in scopes(text.tree):
            for statement, names in _unread(scope):
                deleted.update(dict.fromkeys(names))
                end = text.span(statement).end
                yield Edit(end, end, f"; del {', '.join(names)}")

    found = edited(program, edits)
    return None if found is None else Deleted(found.program, tuple(deleted), found.paths)


def _unread(scope: Scope) -> Iterator[tuple[ast.Assign, list[str]]]:
    """The calls of a model in a scope, and their results that only take up memory."""
    losses = _losses(scope)
    for statement in scope.nodes:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
            continue
        names = _results(statement)
        if len(names) < 2 or not losses.intersection(names):
            continue
        others = [each for each in dict.fromkeys(names) if each not in losses]
        if unread := [each for each in others if scope.is_unread(each, statement)]:
            yield statement, unread


def _results(statement: ast.Assign) -> list[str]:
    """The names of a tuple that is assigned to."""
    target = statement.targets[0]
    if len(statement.targets) != 1 or not isinstance(target, (ast.Tuple, ast.List)):
        return []
    names = [each.id for each in target.elts if isinstance(each, ast.Name)]
    return names if len(names) == len(target.elts) else []


def _losses(scope: Scope) -> frozenset[str]:
    """The names of which a backward pass begins, or a number is taken."""
    found: set[str] = set()
    for call in scope.nodes:
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        of = call.func.value
        if call.func.attr == "backward":
            parts = [of, *call.args]
            found |= {
                each.id for part in parts for each in ast.walk(part) if isinstance(each, ast.Name)
            }
        elif call.func.attr in MEASURED and isinstance(of, ast.Name):
            found.add(of.id)
    return frozenset(found)


FUNCTION = "torch.nn.functional.linear_cross_entropy"
OPTIONS = "options=torch.nn.LinearCrossEntropyOptions()"  # without which it makes the logits
LOSS, HEAD = "cross_entropy", "Linear"
KEYWORDS = frozenset({"ignore_index", "reduction"})
# What may stand in a condition that is asked once more, before anything else is done.
PLAIN = (ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.expr_context,
         ast.cmpop, ast.boolop, ast.unaryop)  # fmt: skip
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Head(NamedTuple):
    """``logits = self.lm_head(x)``, and the condition under which nobody needs them."""

    statement: ast.Assign
    call: ast.Call
    logits: str
    rows: str
    unless: ast.expr | None = None


class Loss(NamedTuple):
    """``F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))``."""

    call: ast.Call
    logits: str
    how: str  # they become rows: "view"


def loss_in_chunks(program: ReadScript) -> Edited | None:
    """``program`` whose logits are made a few rows at a time, for the loss and its gradients."""
    return edited(program, _edits)


def _edits(text: Text) -> Iterator[Edit]:
    brings = imported(text, "torch")
    found = [
        (head, loss, has_bias)
        for kind in nodes(text.tree)
        if isinstance(kind, ast.ClassDef)
        for head, loss, has_bias in _pairs(kind)
    ]
    if brings is None or not found:
        return
    yield brings
    for head, loss, has_bias in found:
        value = text.span(head.statement.value)
        if head.unless is None:
            yield Edit(value.start, value.end, "None")
        else:
            unless = text.of(head.unless)
            yield Edit(value.start, value.start, f"None if {unless} else ")
        first = text.span(loss.call.args[0])
        rows = (
            f"{head.rows}.flatten(0, 1)"
            if loss.how == "flatten"
            else f"{head.rows}.{loss.how}(-1, {head.rows}.size(-1))"
        )
        of = text.of(head.call.func)
        start = text.span(loss.call).start
        yield Edit(start, first.end, f"{FUNCTION}({rows}, {of}.weight")
        bias = f"linear_bias={of}.bias, " if has_bias else ""
        yield added(text, loss.call, f"{bias}{OPTIONS}")


def _pairs(kind: ast.ClassDef) -> Iterator[tuple[Head, Loss, bool]]:
    """The heads of a model's methods, each with the loss that is made of its logits."""
    heads = _linears(kind)
    for method in kind.body:
        if not isinstance(method, FUNCTIONS):
            continue
        losses = [found for each in ast.walk(method) if (found := _loss(each)) is not None]
        for loss in losses if len(losses) == 1 else ():
            head = _head_of(loss, method.body)
            name = None if head is None else ast.unparse(head.call.func)
            if head is not None and name in heads and not _is_given_between(method, head, loss):
                yield head, loss, heads[name]


def _linears(kind: ast.ClassDef) -> dict[str, bool]:
    """The products that a class makes for itself, and whether each may add a bias."""
    found: dict[str, bool] = {}
    for node in ast.walk(kind):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        call = node.value
        if _last(call.func) != HEAD:
            continue
        biases = [each.value for each in call.keywords if each.arg == "bias"]
        without = any(isinstance(each, ast.Constant) and each.value is False for each in biases)
        for target in node.targets:
            found[ast.unparse(target)] = not without
    return found


def _last(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _loss(node: ast.AST) -> Loss | None:
    if not isinstance(node, ast.Call) or _last(node.func) != LOSS or len(node.args) != 2:
        return None
    rows = node.args[0]
    if {each.arg for each in node.keywords} - KEYWORDS or not isinstance(rows, ast.Call):
        return None
    method, of = rows.func, getattr(rows.func, "value", None)
    if not isinstance(method, ast.Attribute) or not isinstance(of, ast.Name) or rows.keywords:
        return None
    written = [ast.unparse(each) for each in rows.args]
    if method.attr == "flatten":
        return Loss(node, of.id, method.attr) if written == ["0", "1"] else None
    if method.attr in ("view", "reshape") and len(written) == 2 and written[1] != "-1":
        return Loss(node, of.id, method.attr)
    return None


def _head_of(loss: Loss, block: list[ast.stmt]) -> Head | None:
    """The head before a loss: in its block, or in the one around the condition of that."""
    found: Head | None = None
    for statement in block:
        head = _head(statement)
        if head is not None and head.logits == loss.logits:
            found = head
        if not any(each is loss.call for each in ast.walk(statement)):
            continue
        if not isinstance(statement, ast.If):
            return found
        inner = any(each is loss.call for part in statement.body for each in ast.walk(part))
        within = _head_of(loss, statement.body if inner else statement.orelse)
        if within is not None or found is None:
            return within
        plain = all(isinstance(each, PLAIN) for each in ast.walk(statement.test))
        alone = any(_is_in(loss, each) for each in statement.body)
        return found._replace(unless=statement.test) if inner and plain and alone else None
    return None


def _is_in(loss: Loss, statement: ast.stmt) -> bool:
    """Whether a loss is made whenever a statement is reached."""
    compound = isinstance(statement, (ast.If, ast.For, ast.While, ast.Try, ast.With))
    return not compound and any(each is loss.call for each in ast.walk(statement))


def _head(statement: ast.stmt) -> Head | None:
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, call = statement.targets[0], statement.value
    if not isinstance(target, ast.Name) or not isinstance(call, ast.Call) or call.keywords:
        return None
    if len(call.args) != 1 or not isinstance(call.args[0], ast.Name):
        return None
    return Head(statement, call, target.id, call.args[0].id)


def _is_given_between(method: ast.AST, head: Head, loss: Loss) -> bool:
    """Whether what the head is given, or the logits, are something else when the loss is made."""
    start, end = head.statement.end_lineno or 0, loss.call.lineno
    return any(
        isinstance(each, ast.Name)
        and isinstance(each.ctx, ast.Store)
        and each.id in (head.rows, head.logits)
        and each is not head.statement.targets[0]
        and start <= each.lineno <= end
        for each in ast.walk(method)
    )
