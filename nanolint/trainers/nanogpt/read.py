"""A model that is not nanoGPT's own, to be read from its source: its texts and its arguments."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.notes import memo
from nanolint.gpus.abilities import has_bfloat16
from nanolint.run.capability import attention_kernel
from nanolint.run.program import FromRun, NotKnown, ReadModel, ReadScript, SourceText
from nanolint.source.python import statements
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.model_class import defined, file_of
from nanolint.trainers.nanogpt.reading import read_source, syntax_tree
from nanolint.trainers.nanogpt.setup.things import Just, Mystery, Named

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Run
    from nanolint.source.values import Plain
    from nanolint.trainers.nanogpt.setup.passed import Passed

MOST_MODULES = 40
CONTEXT = "block_size"


def program_of(script: Path, passed: Passed) -> ReadModel | None:
    """The model that ``script`` builds, to be read; None where what it is built with is not known.

    The context is taken from the run, so that it may be tried with another one.
    """
    if not isinstance(passed.model, Named) or passed.rest is not None:
        return None
    arguments: list[tuple[str, Plain | FromRun | NotKnown]] = []
    for key, thing in passed.arguments.items():
        if isinstance(thing, Mystery):
            arguments.append((key, NotKnown(thing.reason, script.name, thing.line)))
            continue
        if not isinstance(thing, Just):
            return None
        value = tuple(thing.value) if isinstance(thing.value, list) else thing.value
        try:
            hash(value)
        except TypeError:  # a dictionary
            return None
        arguments.append((key, FromRun(key) if key == CONTEXT else value))
    module, _, name = passed.model.name.rpartition(".")
    config = passed.config.rpartition(".")[2] if passed.config else None
    if config is None and not arguments:
        return None  # what it is given has no names
    modules = modules_of(script, module, name)
    return ReadModel(modules, name, tuple(arguments), config) if modules else None


def pretrained(program: ReadModel, tree: ast.Module | None, name: str) -> ReadModel | None:
    """The program that begins with a checkpoint of GPT-2, where ``tree`` loads it as nanoGPT does.

    ``GPT.from_pretrained(init_from, dict(dropout=dropout))``, then ``crop_block_size(block_size)``.
    """
    if tree is None:
        return None
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)]
    loads = [each for each in calls if _method(each) == "from_pretrained"]
    crops = [each for each in calls if _method(each) == "crop_block_size"]
    named = {
        ast.unparse(each.targets[0]): ast.unparse(each.value)
        for each in ast.walk(tree)
        if isinstance(each, ast.Assign) and len(each.targets) == 1
    }
    if len(loads) != 1 or len(crops) != 1 or loads[0].keywords or len(loads[0].args) != 2:
        return None
    of, overridden = map(ast.unparse, loads[0].args)
    cropped = [ast.unparse(each) for each in crops[0].args]
    given = named.get(overridden, overridden)
    if (of, given, cropped) != ("init_from", "dict(dropout=dropout)", [CONTEXT]):
        return None
    kept = tuple((key, value) for key, value in program.arguments if key in ("dropout", CONTEXT))
    if len(kept) != 2:
        return None
    return replace(program, arguments=kept, config_class=None, pretrained=name)


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def read_run(run: Run, program: ReadModel | ReadScript, gpu: Gpu | None) -> Run:
    """``run`` with a model of its own: nothing of nanoGPT's is said of it but what it follows."""
    dtype = "bfloat16" if has_bfloat16(gpu) else "float16"
    kernel = attention_kernel(gpu, dtype=dtype, head_size=64, dropout=False)
    known = program.follows
    return replace(
        run,
        program=program,
        attention=kernel,
        n_layer=run.n_layer if "n_layer" in known else 0,
        n_head=run.n_head if "n_head" in known else 0,
        n_embd=run.n_embd if "n_embd" in known else 0,
        dropout=run.dropout if "dropout" in known else 0.0,
        bias=run.bias and "bias" in known,
    )


# What a run needs of the shape of nanoGPT's own model; a value that stands in for what it lacks.
STAND_INS = {
    "n_layer": Known(1),
    "n_head": Known(1),
    "n_embd": Known(8),
    "dropout": Known(0.0),
    "bias": Known(value=False),
}
# The same for what is not known, where the whole script is read.
WHOLE_STAND_INS = {
    "block_size": Known(1),
    "vocab_size": Known(1),
    "init_from": Known("scratch"),
    "compile": Known(value=True),  # it is read whether the script does
}


@memo
def modules_of(script: Path, module: str, name: str) -> tuple[SourceText, ...]:
    """The file that defines the class, and what it imports within the project; none if unusable."""
    start = file_of(module, script)
    if start is None:
        return ()
    try:
        start, _ = defined(start, name)
    except (Unusable, RecursionError):
        return ()
    root = start.parent if not module or start.parent == script.parent else script.parent
    found: dict[Path, SourceText] = {}
    waiting = [(start, _name_of(start, root))]
    while waiting and len(found) < MOST_MODULES:
        path, dotted = waiting.pop(0)
        if path in found:
            continue
        try:
            text = read_source(path)
            tree = syntax_tree(text)
        except (Unusable, RecursionError):
            continue  # what it has is not known, and named where it is used
        found[path] = SourceText(dotted, _shown(path, root), text)
        waiting += [
            (each, wanted)
            for wanted in imported_names(tree, dotted, is_package=path.name == "__init__.py")
            if (each := file_of(wanted, script)) is not None
        ]
    return tuple(found.values())


def _name_of(path: Path, root: Path) -> str:
    try:
        parts = path.relative_to(root).with_suffix("").parts
    except ValueError:
        parts = (path.stem,)
    return ".".join(parts).removesuffix(".__init__")


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def imported_names(tree: ast.Module, name: str, *, is_package: bool) -> Iterator[str]:
    """The full names of the modules that one called ``name`` imports, and of what may be one.

    Behind them come the packages that they lie in, which Python runs before.
    """
    found: dict[str, None] = {}
    for node in statements(tree):
        if isinstance(node, ast.Import):
            found |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = name.split(".")
                drop = node.level - is_package
                parts = parts[: len(parts) - drop] if drop else parts
                base = ".".join((*parts, base) if base else parts)
            found[base] = None
            found |= dict.fromkeys(f"{base}.{alias.name}" for alias in node.names if base)
    yield from found
    for each in found:
        yield from (each[:at] for at, letter in enumerate(each) if letter == "." and at)
