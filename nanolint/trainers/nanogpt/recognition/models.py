"""Which class a script builds, where that is defined, and how much of it is nanoGPT's."""

from __future__ import annotations

import ast
from dataclasses import field, replace
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import is_file
from nanolint.files.notes import memo
from nanolint.frozen import dataclass
from nanolint.run.settled import ManualAttention
from nanolint.run.trust import Doubt, Subject
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.reading import read_source, syntax_tree
from nanolint.trainers.nanogpt.recognition.kept import kept_tensors
from nanolint.trainers.nanogpt.recognition.pieces import (
    compared_of_model,
    digests,
    known_pieces,
    manual_attention,
    model_pieces,
    routes_to_experts,
    unrecognised_pieces,
    unrecognised_statements,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nanolint.source.values import Plain

# What makes a model a GPT of nanoGPT's: with none of these, it is another network.
CORE = (
    *("CausalSelfAttention.__init__", "CausalSelfAttention.forward"),
    *("Block.forward", "GPT.__init__", "GPT.forward"),
)
OPTIMIZER = "GPT.configure_optimizers"
MOST_HOPS = 4  # from module to module, until the class is defined

# The defaults of nanoGPT's GPTConfig.
NANOGPT_CONFIG: dict[str, Plain] = {
    "block_size": 1024,
    "vocab_size": 50_304,
    "n_layer": 12,
    "n_head": 12,
    "n_embd": 768,
    "dropout": 0.0,
    "bias": True,
}


@dataclass(frozen=True, slots=True)
class Model:
    """The model of a script, as far as it is known.

    ``stranger`` says why it is another network than nanoGPT's, of which nothing is known here.
    ``defaults`` are the fields of its configuration that have one. ``optimizer_doubts`` are those
    of ``doubts`` about how its optimizer is made, left where the rest of the model is read.
    """

    doubts: tuple[Doubt, ...] = ()
    manual_attention: ManualAttention = ManualAttention.NEVER
    stranger: str | None = None
    defaults: Mapping[str, Plain] = field(default_factory=lambda: NANOGPT_CONFIG)
    optimizer_doubts: tuple[Doubt, ...] = ()


@memo
def recognise_model(script: Path, model: str, config: str | None) -> Model:
    """Compare the class with the full name ``model`` (``model.GPT``), which ``script`` builds, with
    nanoGPT's. Never raises. ``config`` is the name of the class of its configuration.

    Where there is no model.py, nanoGPT's is meant.
    """
    module, _, name = model.rpartition(".")
    path = file_of(module, script)
    if path is None:
        if module == "model" and name == "GPT":
            return Model()
        return Model(stranger=f"{script.name} builds {model}, which is not found")
    try:
        path, tree = defined(path, name)
        pieces = model_pieces(tree, name)
        found = digests(tree, pieces)
    except Unusable as error:
        return Model((Doubt(Subject.MODEL, f"{path.name}: {error}", path),))
    except RecursionError:
        text = f"{path.name} is nested too deeply to compare"
        return Model((Doubt(Subject.MODEL, text, path),))
    doubts = tuple(
        unrecognised_pieces(pieces, found, path)
        or unrecognised_statements(tree, path, compared_of_model(tree))
    )
    optimizer = {OPTIMIZER: pieces.get(OPTIMIZER)}
    of_optimizer = unrecognised_pieces(optimizer, found, path)
    own = Model(
        doubts,
        optimizer_doubts=tuple(replace(each, subject=Subject.OPTIMIZER) for each in of_optimizer),
    )
    if not any(found.get(piece) in known_pieces()[piece] for piece in CORE):
        return replace(own, stranger=f"{name} in {path.name} is another network than nanoGPT's")
    if any(routes_to_experts(piece) for piece in pieces.values() if piece):
        why = f"{name} in {path.name} is a mixture of experts, whose parameters are not known here"
        return replace(own, stranger=why)
    return replace(
        own,
        doubts=(*kept_tensors(tree, path), *doubts),
        manual_attention=manual_attention(found),
        defaults=_fields(tree, config.rpartition(".")[2]) if config else {},
    )


def file_of(module: str, script: Path) -> Path | None:
    """Where ``module`` is imported from by ``script``; the script itself for no module."""
    if not module:
        return script
    parts = [part for part in module.split(".") if part]
    for folder in (script.parent, script.parent.parent):
        for path in (
            folder.joinpath(*parts).with_suffix(".py"),
            folder.joinpath(*parts) / "__init__.py",
        ):
            if is_file(path):
                return path
    return None


def defined(path: Path, name: str) -> tuple[Path, ast.Module]:
    """The file that defines the class, and its tree; raises Unusable."""
    for _ in range(MOST_HOPS):
        tree = syntax_tree(read_source(path))
        if any(isinstance(node, ast.ClassDef) and node.name == name for node in tree.body):
            break
        onward = next(
            (
                node.module
                for node in tree.body
                if isinstance(node, ast.ImportFrom)
                and node.module
                and any((alias.asname or alias.name) == name for alias in node.names)
            ),
            None,
        )
        further = file_of(onward, path) if onward else None
        if further is None or further == path:
            break
        path = further
    return path, tree


def _fields(tree: ast.Module, name: str) -> dict[str, Plain]:
    """The fields of a class of configuration that have a plain default."""
    from nanolint.source.parse import parse

    fields: dict[str, Plain] = {}
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or node.name != name:
            continue
        for entry in node.body:
            target = entry.targets[0] if isinstance(entry, ast.Assign) else None
            target = entry.target if isinstance(entry, ast.AnnAssign) else target
            if isinstance(target, ast.Name) and isinstance(entry, (ast.Assign, ast.AnnAssign)):
                value = ast.unparse(entry.value) if entry.value is not None else "unset"
                known = parse(f"value = {value}\n").final.get("value")
                if isinstance(known, Known):
                    fields[target.id] = known.value
    return fields
