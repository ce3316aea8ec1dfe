"""Statements that nanoGPT's own files do not have, and that may change what memory is taken.

Pieces are compared as they are; all else of a file may set PyTorch's switches, hold tensors, patch
a class, or load another model. What is in no version of nanoGPT's files is a stranger, unless all
that it does is seen to be Python's own: numbers, texts, lists, files, times.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from nanolint.trainers.nanogpt.recognition.fingerprint import (
    QUIET_CALLS,
    Piece,
    digest,
    dotted_name,
    import_aliases,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

STATEMENTS = "statements"  # of all versions, in known_pieces.json
# What lives on the card, by the names that nanoGPT gives it.
_ON_CARD = frozenset({"model", "raw_model", "optimizer", "scaler", "self", "checkpoint"})
_ASKED = frozenset(
    {
        *("eval", "train", "parameters", "named_parameters", "get_num_params", "estimate_mfu"),
        *("state_dict", "param_groups", "config", "training"),
    }
)
_PACKAGES = frozenset(
    {
        *("numpy", "wandb", "tqdm", "tiktoken", "yaml", "datasets", "matplotlib", "pandas"),
        *("tensorboard", "rich", "requests", "psutil", "mlflow", "neptune", "omegaconf"),
    }
)
# Of torch's functions and settings those that leave memory as it is.
_HARMLESS = (
    *("torch.manual_seed", "torch.cuda.manual_seed", "torch.set_float32_matmul_precision"),
    *("torch.cuda.synchronize", "torch.cuda.is_available", "torch.cuda.set_device"),
    *("torch.cuda.get_device", "torch.cuda.current_device", "torch.cuda.device_count"),
    *("torch.cuda.max_memory", "torch.cuda.memory_", "torch.cuda.reset_peak", "torch.save"),
    *("torch.cuda.mem_get_info", "torch.get_rng_state", "torch.__version__", "torch.distributed"),
    *("torch.backends.cuda.matmul.allow", "torch.backends.cudnn", "torch.cuda.is_bf16"),
    *("torch.float", "torch.bfloat16", "torch.int", "torch.long", "torch.version"),
)
# Python's own that run other code, or reach what is named by a text.
_REACHING = frozenset({"exec", "eval", "__import__", "setattr", "delattr", "importlib", "runpy"})
_MOVES = frozenset({"to", "cuda", "half", "bfloat16", "double", "backward"})
_ALLOCATOR = "ALLOC_CONF"  # how the variables end that the allocator reads


def strangers(
    tree: ast.Module,
    known: Collection[str],
    compared: Collection[ast.stmt],
    modules: Collection[str] = (),
) -> list[ast.stmt]:
    """The strangers in their order; ``known`` are the digests of nanoGPT's own statements.

    Those that are ``compared`` as parts of pieces are none. ``modules`` of the project may be
    imported: what they hold is looked at elsewhere.
    """
    aliases = import_aliases(tree)
    return [
        statement
        for statement in simple(tree.body)
        if statement not in compared
        and _may_matter(statement, aliases, modules)
        and digest(_piece(statement), aliases) not in known
    ]


def digests_of(tree: ast.Module) -> Iterator[str]:
    """The digests of all statements of a file."""
    aliases = import_aliases(tree)
    for statement in simple(tree.body):
        yield digest(_piece(statement), aliases)


def _piece(statement: ast.stmt) -> Piece:
    return Piece([statement], frozenset())


def simple(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that hold no others, and the heads of those that do, as statements."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            heads: list[ast.expr] = [*statement.decorator_list]
            if isinstance(statement, ast.ClassDef):
                heads += statement.bases
            else:
                heads += [*statement.args.defaults, *filter(None, statement.args.kw_defaults)]
        elif isinstance(statement, ast.If | ast.While):
            heads = [statement.test]
        elif isinstance(statement, ast.For | ast.AsyncFor):
            heads = [statement.iter]
        elif isinstance(statement, ast.With | ast.AsyncWith):
            heads = [each.context_expr for each in statement.items]
        elif isinstance(statement, ast.Try):
            heads = []
            for handler in statement.handlers:
                yield from simple(handler.body)
        else:
            yield statement
            continue
        for head in heads:
            yield ast.copy_location(ast.Expr(head), statement)
        for field in ("body", "orelse", "finalbody"):
            yield from simple(getattr(statement, field, []))


def _may_matter(statement: ast.stmt, aliases: Mapping[str, str], modules: Collection[str]) -> bool:
    if isinstance(statement, ast.Import):
        return any(not _is_plain_module(each.name, modules) for each in statement.names)
    if isinstance(statement, ast.ImportFrom):
        return not _is_plain_module("." * statement.level + (statement.module or ""), modules)
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if any(_patches(each, aliases) for each in targets):
            return True
    return any(_acts(node, aliases) for node in ast.walk(statement))


def _is_plain_module(name: str, modules: Collection[str]) -> bool:
    first = name.partition(".")[0]
    known = first in sys.stdlib_module_names or first in _PACKAGES or first == "torch"
    return known or name in modules


def _patches(target: ast.expr, aliases: Mapping[str, str]) -> bool:
    """Whether an attribute of what is not the script's own is set."""
    if isinstance(target, ast.Tuple | ast.List):
        return any(_patches(each, aliases) for each in target.elts)
    if not isinstance(target, ast.Attribute):
        return False
    name = dotted_name(target, aliases)
    return name is None or not name.startswith(_HARMLESS)


def _acts(node: ast.AST, aliases: Mapping[str, str]) -> bool:
    """Whether a part of an expression may do something on the card."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value.endswith(_ALLOCATOR)
    if isinstance(node, ast.Attribute | ast.Name):
        name = dotted_name(node, aliases)
        if name is not None and name.startswith("torch."):
            return not name.startswith(_HARMLESS) and name not in _PREFIXES
        return isinstance(node, ast.Attribute) and _is_part(node)
    if not isinstance(node, ast.Call):
        return False
    name = dotted_name(node.func, aliases)
    passed = [*node.args, *(each.value for each in node.keywords)]
    given = {each.id for each in passed if isinstance(each, ast.Name)}
    if given & _ON_CARD and name not in ("print", "len", "isinstance", "hasattr", "type"):
        return True
    if any(aliases.get(each, "").partition(".")[0] == "torch" for each in given):
        return True
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if "device" in given or method in _MOVES or method.startswith("register_"):
        return True
    if name is None:  # a method of what an expression gives
        return _is_on_card(node.func)
    first, _, rest = name.partition(".")
    if first in _REACHING:
        return True
    if rest.endswith("Config"):  # of model.py: what it is given is asked for elsewhere
        return False
    if first in _ON_CARD:
        return rest.rpartition(".")[2] not in _ASKED
    if any(name == quiet or name.startswith(f"{quiet}.") for quiet in QUIET_CALLS):
        return False
    if first == "torch":
        return not name.startswith(_HARMLESS)
    if rest:  # a method, or a function of a module
        return first in aliases and not _is_plain_module(first, ())
    # A function of the script itself is looked at where it is written; one that is imported is not.
    return "." in aliases.get(first, "") and not _is_plain_module(name, ())


def _is_part(node: ast.Attribute) -> bool:
    """Whether it is a part of the model, say, of which more than its settings is taken."""
    owner = node.value
    on_card = isinstance(owner, ast.Name) and owner.id in _ON_CARD - {"self", "checkpoint"}
    return on_card and node.attr not in _ASKED


def _is_on_card(function: ast.expr) -> bool:
    return any(isinstance(each, ast.Name) and each.id in _ON_CARD for each in ast.walk(function))


# Parts of the longer names that are looked at.
_PREFIXES = frozenset(
    {
        *("torch.cuda", "torch.backends", "torch.backends.cuda", "torch.backends.cuda.matmul"),
        *("torch.distributed", "torch.nn", "torch.nn.Module"),
    }
)
