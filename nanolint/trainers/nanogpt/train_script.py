"""What a train.py lets configs set, and how it uses two of the settings."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.frozen import dataclass
from nanolint.regex import lazily
from nanolint.run.run import Dialect
from nanolint.source.python import nodes, walked
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.configurator import WORDS
from nanolint.trainers.nanogpt.keys import KEYS
from nanolint.trainers.nanogpt.reading import read_source, syntax_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from nanolint.source.values import Value

FOREIGN = "a trainer of its own"  # how the reason starts, as against a file that cannot be read

# Fewer of nanoGPT's keys above the configurator line, and the script is not nanoGPT's.
LEAST_SHARED_KEYS = 3
PROGRAM = ".py"
STEPS = "gradient_accumulation_steps"
_ASKS_FOR_DDP = lazily("ddp|distributed|rank|world", re.IGNORECASE)
# Bookkeeping of train.py that no config sets.
_NOT_KEYS = frozenset({"config_keys", "config"})
_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class TrainScript:
    """A train.py of nanoGPT's kind. ``environment`` is every global above the configurator line,
    ``defaults`` those of them that a config may set."""

    tree: ast.Module
    environment: Mapping[str, Value]
    defaults: Mapping[str, Value]
    settings_end: int
    configurator: int  # the index of that line's statement in the tree
    dialect: Dialect
    simulated_gpus: int
    compile_mode: str | None


def read_train_script(
    text: str, star_import: Callable[[str], Mapping[str, Value] | None], folder: Path
) -> TrainScript:
    """Understand the text of a train.py in ``folder``. Raises Unusable when it is not nanoGPT's
    kind."""
    from nanolint.source.parse import Unparsable, parse
    from nanolint.source.values import TooComplex

    tree = syntax_tree(text)
    statement = _configurator_statement(tree, folder)
    end = None if statement is None else _offset(statement, text)
    if statement is None or end is None:
        raise Unusable(f"{FOREIGN}: it loads no configurator")
    try:
        above = text[:end]
        module = parse(above, None, star_import)
    except (Unparsable, TooComplex) as error:
        raise Unusable(str(error)) from None
    environment = module.final
    keys = (settable_keys(tree, folder) or frozenset()) | {
        key for key, value in module.imported if isinstance(value, Known) or key in KEYS
    }
    if len(environment.keys() & KEYS.keys()) < LEAST_SHARED_KEYS:
        raise Unusable(f"{FOREIGN}: it sets none of its keys above its configurator")
    return TrainScript(
        tree=tree,
        environment=environment,
        defaults={key: value for key, value in environment.items() if key in keys},
        settings_end=end,
        configurator=tree.body.index(statement),
        dialect=_dialect(tree),
        simulated_gpus=_simulated_gpus(tree, environment),
        compile_mode=_compile_mode(tree, environment),
    )


def _offset(statement: ast.stmt, text: str) -> int:
    """The character offset of a statement."""
    # ast counts lines as the tokenizer does, which str.splitlines() does not.
    starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
    start = starts[statement.lineno - 1]
    line = text[start:].encode("utf-8", "surrogatepass")[: statement.col_offset]
    return start + len(line.decode("utf-8", "surrogatepass"))


def settable_keys(tree: ast.Module, folder: Path) -> frozenset[str] | None:
    """The globals above the configurator line of a script in ``folder``, None when it loads no
    configurator."""
    statement = _configurator_statement(tree, folder)
    if statement is None:
        return None
    above = tree.body[: tree.body.index(statement)]
    names = {name for entry in above for name in _assigned_names(entry)}
    return frozenset(filter(_is_key, names))


def _is_key(name: str) -> bool:
    return not name.startswith("_") and name not in _NOT_KEYS


def _configurator_statement(tree: ast.Module, folder: Path) -> ast.stmt | None:
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    body = [each for each in tree.body if not isinstance(each, definitions)]
    for index, statement in enumerate(body):
        found = walked(statement)
        if any(map(_imports_configurator, found)):
            return statement
        if any(_runs_configurator(each, body[: index + 1], folder) for each in found):
            return statement
    return None


def _imports_configurator(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").split(".")[-1] == "configurator"
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[-1] == "configurator" for alias in node.names)
    return False


def _runs_configurator(node: ast.AST, upto: Sequence[ast.stmt], folder: Path) -> bool:
    """Whether ``exec`` runs a file that is called so, or takes the launch line. Any other that it
    runs is no configurator: what it sets is its own. ``upto`` are the statements to its own."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return False
    if node.func.id != "exec":
        return False
    asked = {each.id for each in walked(node) if isinstance(each, ast.Name)}
    texts = list(_texts(node))
    for statement in reversed(upto):
        if _binds(statement, asked) and not any(map(_is_program, texts)):
            texts += _texts(statement)
            asked |= {each.id for each in walked(statement) if isinstance(each, ast.Name)}
    return any(_takes_configs(text, folder) for text in texts if _is_program(text))


def _texts(node: ast.AST) -> Iterator[str]:
    for each in walked(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def _binds(statement: ast.stmt, names: Collection[str]) -> bool:
    return any(
        isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and each.id in names
        for each in walked(statement)
    )


def _is_program(text: str) -> bool:
    return text.endswith(PROGRAM)


def _takes_configs(path: str, folder: Path) -> bool:
    if "configurator" in path:
        return True
    try:
        return not path.startswith("/") and WORDS in read_source(folder / path)
    except Unusable:
        return False


def _assigned_names(statement: ast.stmt) -> Iterator[str]:
    """The globals that a statement assigns, also under an ``if``."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return
    for node in walked(statement):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for name in walked(target):
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                        yield name.id


def _dialect(tree: ast.Module) -> Dialect:
    """TOTAL when the script divides the accumulation by something, as today's nanoGPT does."""
    for node in nodes(tree):
        if isinstance(node, ast.AugAssign):
            divides = isinstance(node.op, (ast.FloorDiv, ast.Div)) and _names(node.target, STEPS)
        elif isinstance(node, ast.Assign):
            divides = _names(node.targets[0], STEPS) and _divides(node.value, STEPS)
        else:
            continue
        if divides:
            return Dialect.TOTAL
    return Dialect.PER_GPU


def _divides(expression: ast.expr, key: str) -> bool:
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, (ast.FloorDiv, ast.Div))
        and _names(node.left, key)
        for node in walked(expression)
    )


def _simulated_gpus(tree: ast.Module, environment: Mapping[str, Value]) -> int:
    """K of ``gradient_accumulation_steps *= K`` where a script runs without DDP, else 1.

    nanoGPT of spring 2023 says ``*= 8  # simulate 8 gpus`` there.
    """
    product = 1
    for node in nodes(tree):
        if not isinstance(node, ast.If):
            continue
        negated = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
        for statement in node.body if negated else node.orelse:
            factor = _multiplier(statement, environment)
            if isinstance(factor, int) and factor > 0:
                product *= factor if _ASKS_FOR_DDP.search(ast.unparse(node.test)) else 1
    return product


def _multiplier(statement: ast.stmt, environment: Mapping[str, Value]) -> object:
    """What ``statement`` multiplies the accumulation by, None when it does not."""
    if isinstance(statement, ast.AugAssign) and _names(statement.target, STEPS):
        if isinstance(statement.op, ast.Mult):
            return _constant(statement.value, environment)
    elif isinstance(statement, ast.Assign) and _names(statement.targets[0], STEPS):
        product = statement.value
        if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
            if _names(product.left, STEPS):
                return _constant(product.right, environment)
            if _names(product.right, STEPS):
                return _constant(product.left, environment)
    return None


def _names(expression: ast.expr, key: str) -> bool:
    return isinstance(expression, ast.Name) and expression.id == key


def compile_calls(tree: ast.Module) -> Iterator[ast.Call]:
    """Every call of ``torch.compile(...)`` or ``model.compile(...)``."""
    for node in nodes(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if node.func.attr == "compile" and isinstance(owner, ast.Name) and owner.id != "re":
                yield node


def _compile_mode(tree: ast.Module, environment: Mapping[str, Value]) -> str | None:
    for call in compile_calls(tree):
        for keyword in call.keywords:
            if keyword.arg == "mode":
                mode = _constant(keyword.value, environment)
                return None if mode in (None, "default") else str(mode)
    return None


def _constant(expression: ast.expr, environment: Mapping[str, Value]) -> object:
    """The value of a literal or a known global, else the expression's source."""
    if isinstance(expression, ast.Constant):
        return expression.value
    if isinstance(expression, ast.Name):
        value = environment.get(expression.id)
        if isinstance(value, Known):
            return value.value
    return ast.unparse(expression)


def names_read(tree: ast.Module) -> frozenset[str]:
    """The names that a script reads anywhere, also as text: ``'key' in globals()``."""
    found = {node.id for node in nodes(tree) if isinstance(node, ast.Name)}
    found |= {
        node.value
        for node in nodes(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return frozenset(name for name in found if name.isidentifier())
