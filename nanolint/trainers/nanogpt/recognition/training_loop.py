"""What is left of a training script when only the statements that hold tensors are kept."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, TypeVar

from nanolint.trainers.nanogpt.recognition.fingerprint import dotted_name, is_quiet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    _Block = TypeVar("_Block", ast.FunctionDef, ast.With)

# Calls that give tensors on the device, by the last part of their name; `model` is called itself.
_SOURCES = frozenset({"get_batch", "model", "to", "cuda"})
# Calls that turn tensors into numbers, files or host memory: what they take does not stay.
_ENDS = frozenset(
    {
        *("item", "tolist", "float", "int", "len", "cpu", "numpy"),
        *("state_dict", "estimate_mfu", "save", "train", "eval"),
    }
)
# Names of things that live on the device and are not tensors themselves.
_NETWORKS = frozenset({"model", "raw_model"})
_DEVICE_NAMES = _NETWORKS | {"optimizer", "scaler"}
# What is asked of a model without a forward pass.
_ASKED = _ENDS | {"parameters", "named_parameters", "modules", "named_modules", "get_num_params"}
# A GradScaler passes everything through, but for float16, where it holds a few numbers.
_NO_OPS = frozenset({"scaler.update", "scaler.unscale_"})
_NO_ARGUMENTS = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
_ACTIONS = frozenset({"estimate_loss", "get_batch", "clip_grad_norm_", "clip_grad_value_"})


def find_loop(tree: ast.Module) -> list[ast.stmt] | None:
    """The outermost loop that runs ``backward()``, with the batches fetched just above it."""
    for body in _bodies(tree):
        for index, statement in enumerate(body):
            if isinstance(statement, (ast.While, ast.For)) and _calls(statement, "backward"):
                return [entry for entry in body[:index] if _fetches(entry)] + [statement]
    return None


def users_of_the_model(functions: Iterable[ast.FunctionDef]) -> frozenset[str]:
    """The functions that name what lives on the device: what a call of one does is not known."""
    return frozenset(
        function.name
        for function in functions
        if any(
            isinstance(node, ast.Name) and node.id in _DEVICE_NAMES for node in _walk([function])
        )
    )


def matters(
    statements: list[ast.stmt], users: frozenset[str], simple: Iterable[ast.stmt]
) -> Iterator[ast.stmt]:
    """Which of the ``simple`` ones among ``statements`` hold tensors or act on them."""
    tensors = _tensors(statements, users)
    for statement in simple:
        if _matters(statement, tensors) or _acts(statement):
            yield statement


def keep_tensors(
    statements: list[ast.stmt], aliases: Mapping[str, str], users: frozenset[str] = frozenset()
) -> list[ast.stmt]:
    """The statements that hold tensors or act on them; conditions and loop ranges are dropped.

    ``users`` are the script's own functions that use the model: a call of one acts on the device,
    as a call of a method of the model does (``model.generate(...)``).
    One evaluation after another counts once: it leaves nothing behind.
    """
    return list(_once(_kept(statements, _tensors(statements, users), aliases)))


def _tensors(statements: list[ast.stmt], users: frozenset[str]) -> set[str]:
    """The names that hold tensors."""
    tensors = set(users)
    while True:  # a name can be given a tensor below the place where it is used
        found = {
            name
            for node in _walk(statements)
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign))
            and node.value is not None
            and _holds(node.value, tensors)
            for name in _targets(node)
        }
        if found <= tensors:
            return tensors
        tensors |= found


def _once(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    previous = ""
    for statement in statements:
        current = ast.dump(statement)
        if current != previous or not _acts(statement):
            yield statement
        previous = current


def _kept(
    statements: Iterable[ast.stmt], tensors: set[str], aliases: Mapping[str, str]
) -> Iterator[ast.stmt]:
    for statement in statements:
        acts = _acts(statement) or _runs_model(statement, tensors)
        if is_quiet(statement, aliases) and not acts:
            continue
        if isinstance(statement, ast.FunctionDef):
            body = list(_kept(statement.body, tensors, aliases))
            plain = _with_body(statement, body)
            plain.args = _NO_ARGUMENTS  # such as which splits to evaluate
            yield plain
        elif isinstance(statement, (ast.For, ast.While)):
            inner = [*statement.body, *statement.orelse]
            body = list(_once(_kept(inner, tensors, aliases)))
            if body:
                yield ast.While(ast.Constant(True), body, [])
        elif isinstance(statement, ast.With):
            body = list(_kept(statement.body, tensors, aliases))
            if body:
                yield _with_body(statement, body)
        elif isinstance(statement, ast.If):
            body = list(_kept(statement.body, tensors, aliases))
            orelse = list(_kept(statement.orelse, tensors, aliases))
            if body and orelse:
                yield ast.If(ast.Constant(True), body, orelse)
            else:
                yield from body or orelse
        elif isinstance(statement, ast.Try):
            yield from _kept([*statement.body, *statement.finalbody], tensors, aliases)
        elif _matters(statement, tensors):
            yield _plain(statement)


def _with_body(statement: _Block, body: list[ast.stmt]) -> _Block:
    result = copy.copy(statement)
    result.body = body
    return result


def _matters(statement: ast.stmt, tensors: set[str]) -> bool:
    if _runs_model(statement, tensors):
        return True
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        value = statement.value
        return value is not None and (_holds(value, tensors) or _acts(value))
    if isinstance(statement, (ast.Expr, ast.Return)):
        value = statement.value
        if isinstance(value, ast.Call) and dotted_name(value.func, {}) in _NO_OPS:
            return False
        return value is not None and (
            _holds(value, tensors | _DEVICE_NAMES) or _acts(value) or _manages_memory(value)
        )
    if isinstance(statement, ast.Delete):
        return any(isinstance(node, ast.Name) and node.id in tensors for node in _walk([statement]))
    return False


def _plain(statement: ast.stmt) -> ast.stmt:
    """Without what does not matter: which split a batch is of, who gets a norm or a mean loss."""
    statement = _Plainer().visit(copy.deepcopy(statement))
    if isinstance(statement, ast.Expr) and is_quiet(statement, {}) and _runs_model(statement, ()):
        called = ast.iter_child_nodes(statement.value)  # a digest would leave a print out
        parts = [node for node in called if isinstance(node, ast.expr)]
        return ast.Expr(ast.Tuple(parts, ast.Load()))
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return statement
    is_action = _last_part(statement.value.func) in _ACTIONS - {"get_batch"}
    return ast.Expr(statement.value) if is_action else statement


class _Plainer(ast.NodeTransformer):
    """Drops which split a batch or a loss is of, and the GradScaler (see _NO_OPS)."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = dotted_name(node.func, {})
        if name in ("get_batch", "estimate_loss"):
            return ast.Call(node.func, [], [])
        if name == "scaler.scale" and len(node.args) == 1:
            return node.args[0]
        if name == "scaler.step" and len(node.args) == 1:
            return ast.Call(ast.Attribute(node.args[0], "step", ast.Load()), [], [])
        return node


def _holds(expression: ast.AST, tensors: Iterable[str]) -> bool:
    """Whether the value of an expression is, or keeps alive, a tensor."""
    if isinstance(expression, ast.Call):
        last = _last_part(expression.func)
        if last in _ENDS:
            return False
        if last in _SOURCES or any(keyword.arg == "device" for keyword in expression.keywords):
            return True
    if isinstance(expression, (ast.JoinedStr, ast.Compare)):
        return False
    if isinstance(expression, ast.Name):
        return expression.id in tensors
    return any(_holds(child, tensors) for child in ast.iter_child_nodes(expression))


def _acts(expression: ast.AST) -> bool:
    return any(_calls(expression, action) for action in _ACTIONS)


def _runs_model(tree: ast.AST, users: Collection[str]) -> bool:
    """Whether a model, a method of it, or a function that uses it is called, whatever is taken."""
    for node in ast.walk(tree):
        name = dotted_name(node.func, {}) if isinstance(node, ast.Call) else None
        first, _, rest = (name or "").partition(".")
        if first in _NETWORKS and rest.rpartition(".")[2] not in _ASKED:
            return True
        if name and name in users:
            return True
    return False


def _manages_memory(expression: ast.AST) -> bool:
    return _calls(expression, "empty_cache")


def _calls(tree: ast.AST, name: str) -> bool:
    return any(
        isinstance(node, ast.Call) and _last_part(node.func) == name for node in ast.walk(tree)
    )


def _fetches(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and _calls(statement, "get_batch")


def _last_part(function: ast.expr) -> str | None:
    if isinstance(function, ast.Attribute):
        return function.attr
    name = dotted_name(function, {})
    return name.rpartition(".")[2] if name else None


def _targets(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> Iterator[str]:
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        for name in ast.walk(target):
            if isinstance(name, ast.Name):
                yield name.id


def _walk(statements: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    for statement in statements:
        yield from ast.walk(statement)


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Every block of statements, outermost first."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                yield block
