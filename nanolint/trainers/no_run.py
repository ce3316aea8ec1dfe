"""Why a Python file holds no known run, in a clause for people."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.run.settled import Options
from nanolint.trainers.nanogpt.kind import loads_configurator
from nanolint.trainers.nanogpt.reading import syntax_tree
from nanolint.trainers.script.outline import SIZES, open_flags
from nanolint.trainers.script.resolve import why_not
from nanolint.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_SIZES = 3  # that are named

# Trainers that others have written, by what a script imports for them.
LIBRARIES = {
    "transformers": ("Trainer", "transformers' Trainer"),
    "trl": ("SFTTrainer", "trl's SFTTrainer"),
    "lightning": ("", "Lightning"),
    "pytorch_lightning": ("", "Lightning"),
}


def why_no_run(text: str, path: Path | None = None, options: Options | None = None) -> str:
    """Why ``text`` is neither a config nor a train.py whose values are known.

    With the ``path`` that it stands at, also what keeps the values of its own loop unknown;
    ``options`` are what it is launched with.

    >>> why_no_run("import torch.nn as nn\\nclass GPT(nn.Module): ...\\nB = 64\\nloss.backward()")
    'builds its own model and sets B on line 3'
    """
    if loads_configurator(text):
        return "loads the configurator itself; name the config that it runs"
    try:
        tree = syntax_tree(text)
    except Unusable as error:
        return str(error)
    nodes = list(ast.walk(tree))
    library = _library(nodes)
    if library is not None:
        trainer = f"trains with {library}"
    elif not any(_called(node) == "backward" for node in nodes):
        if _defines_model(nodes):
            return "defines a model and trains nothing"
        if any(map(_is_code, nodes)):  # no config, but a program
            return "calls no backward() itself, and starts no known training loop"
        return "sets no key of train.py and trains nothing"
    elif (
        path is not None
        and (why := why_not(text, path.absolute(), options or Options())) is not None
    ):
        flags = list(open_flags(nodes))
        return f"{why}; the launch line can give {listed(flags)}" if flags else why
    elif _defines_model(nodes):
        trainer = "builds its own model"
    else:
        trainer = "trains in a loop of its own"
    return " and ".join([trainer, *_values(nodes)])


def _values(nodes: list[ast.AST]) -> Iterator[str]:
    """Where the script has its sizes from."""
    if any(_called(node) == "add_argument" for node in nodes):
        yield "reads its values with argparse"
    else:
        yield from _sizes(nodes)


def _library(nodes: list[ast.AST]) -> str | None:
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            modules, names = [node.module], {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            modules, names = [alias.name for alias in node.names], set()
        else:
            continue
        for module in modules:
            wanted, told = LIBRARIES.get(module.partition(".")[0], ("", ""))
            if told and (not wanted or wanted in names):
                return told
    return None


def _is_code(node: ast.AST) -> bool:
    """What configs do not have."""
    code = (ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.With)
    is_flag = isinstance(node, ast.Call) and _called(node) == "add_argument"
    return isinstance(node, code) or is_flag


def _defines_model(nodes: list[ast.AST]) -> bool:
    return any(
        isinstance(base, (ast.Attribute, ast.Name)) and _last_name(base) == "Module"
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for base in node.bases
    )


def _sizes(nodes: list[ast.AST]) -> Iterator[str]:
    """Where the sizes of a batch are set: ``sets B, T on lines 325, 326``."""
    rows: dict[str, int] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Name) and target.id in SIZES and _is_number(node.value):
                rows.setdefault(target.id, node.lineno)
    found = sorted(rows.items(), key=lambda each: each[1])[:MOST_SIZES]
    if found:
        names, lines = (", ".join(map(str, column)) for column in zip(*found, strict=True))
        yield f"sets {names} on line{'s' if len(found) > 1 else ''} {lines}"


def _is_number(node: ast.expr | None) -> bool:
    """Whether an expression is made of numbers: ``64``, ``2**19``."""
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _called(node: ast.AST) -> str | None:
    """The last name of the function that ``node`` calls, if it is a call of one."""
    if isinstance(node, ast.Call) and isinstance(node.func, (ast.Attribute, ast.Name)):
        return _last_name(node.func)
    return None


def _last_name(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id
