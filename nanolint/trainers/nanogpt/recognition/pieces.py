"""Which parts of model.py and of the training loop are nanoGPT's.

Each piece is compared, by a digest that only its meaning decides, with the versions in nanoGPT's
history that allocate what the replay says. ``scripts/build_known_pieces.py`` collects those.
"""

from __future__ import annotations

import ast
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.run.settled import ManualAttention
from nanolint.run.trust import Doubt, Subject
from nanolint.source.python import nodes
from nanolint.trainers.nanogpt.recognition.deletions import without_deletions
from nanolint.trainers.nanogpt.recognition.fingerprint import (
    Piece,
    digest,
    import_aliases,
    local_names,
)
from nanolint.trainers.nanogpt.recognition.strangers import STATEMENTS, simple, strangers
from nanolint.trainers.nanogpt.recognition.training_loop import (
    find_loop,
    keep_tensors,
    matters,
    users_of_the_model,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

KNOWN_PIECES = Path(__file__).with_name("known_pieces.json")

# The methods that decide parameters and activations.
MODEL_METHODS = {
    "LayerNorm": ("__init__", "forward"),
    "CausalSelfAttention": ("__init__", "forward"),
    "MLP": ("__init__", "forward"),
    "Block": ("__init__", "forward"),
    "GPT": ("__init__", "forward", "configure_optimizers"),
}
EVALUATION, TRAINING_LOOP = "estimate_loss", "training loop"
LOADER = "get_batch"
TRAIN_FUNCTIONS = (LOADER, EVALUATION)
# How attention is computed can be read off these pieces; the first that says so decides.
ATTENTION = ("CausalSelfAttention.forward", "CausalSelfAttention.__init__")

MODEL = "model"  # the module that train.py imports
MOST_SOURCE = 60  # characters of a statement that is quoted
EXPERTS = r"moe\b|experts|router"

# Words in unknown code that tell people at once what it is.
_FEATURES = (
    (r"rotary|rope\b|freqs_cis|apply_rot", "rotary embeddings"),
    (r"n_kv_head|num_kv|kv_heads|repeat_kv|enable_gqa", "grouped-query attention"),
    (r"flex_attention", "FlexAttention"),
    (r"checkpoint\(|checkpoint_sequential", "activation checkpointing"),
    (r"rms_?norm", "RMSNorm"),
    (r"swiglu|silu|geglu", "a gated MLP"),
    (EXPERTS, "a mixture of experts"),
    (r"muon|adafactor|lion\b|sgd\b|shampoo|sophia|adam8bit|bnb\.|galore", "another optimizer"),
    (r"empty_cache", "torch.cuda.empty_cache()"),
)
# Calls around the loop that change what lives on the device.
_UNRECOGNISED_CALLS = {
    "deepcopy": "a second copy of the model",
    "AveragedModel": "averaged weights",
    "half": "weights in half precision",
    "bfloat16": "weights in half precision",
    "FullyShardedDataParallel": "sharded parameters",
    "FSDP": "sharded parameters",
    "fully_shard": "sharded parameters",
    "DataParallel": "torch.nn.DataParallel",
    "gradient_checkpointing_enable": "activation checkpointing",
    "get_peft_model": "adapters",
    "set_per_process_memory_fraction": "a memory limit of its own",
}


@dataclass(frozen=True, slots=True)
class Recognition:
    """What of a train.py is not nanoGPT's, and which of its pieces delete the logits."""

    doubts: tuple[Doubt, ...] = ()
    deletes_logits: frozenset[str] = frozenset()


def recognise(train: ast.Module, train_script: Path) -> Recognition:
    """Compare the loop of a train.py, and what is around it, with nanoGPT's. Never raises."""
    try:
        pieces = train_pieces(train)
        doubts = unrecognised_pieces(pieces, digests(train, pieces), train_script)
        doubts += _unrecognised_calls(train, train_script)
        doubts = doubts or unrecognised_statements(train, train_script, _compared(train))
    except RecursionError:  # a sum of a thousand terms nests a thousand levels
        text = f"{train_script.name} is nested too deeply to compare"
        return Recognition((Doubt(Subject.PIECE, text, train_script),))
    deleting = frozenset(name for name, piece in pieces.items() if piece and piece.deletes_logits)
    return Recognition(tuple(doubts), deleting)


def model_pieces(tree: ast.Module, whole: str = "GPT") -> dict[str, Piece | None]:
    """Every piece of a model.py by name; None for one that it lacks.

    ``whole`` is the class that is nanoGPT's GPT, if by another name.
    """
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    if whole in classes:
        classes["GPT"] = classes[whole]
    pieces: dict[str, Piece | None] = {}
    for name, methods in MODEL_METHODS.items():
        if name not in classes and name != "GPT":
            continue  # whoever would use it is another piece, and not nanoGPT's then
        body = classes[name].body if name in classes else []
        for method in methods:
            found = _function(body, method)
            pieces[f"{name}.{method}"] = _model_piece(found) if found else None
    return pieces


def _model_piece(code: list[ast.stmt]) -> Piece:
    return Piece(code, local_names(code), line=code[0].lineno)


def train_pieces(tree: ast.Module) -> dict[str, Piece | None]:
    """What holds tensors in every piece of a train.py, by name; None for one that it lacks.

    ``del logits`` is taken out of them, and noted.
    """
    aliases = import_aliases(tree)
    functions = [node for node in nodes(tree) if isinstance(node, ast.FunctionDef)]
    found = {name: _function(functions, name) for name in TRAIN_FUNCTIONS}
    found[TRAINING_LOOP] = find_loop(tree)
    users = users_of_the_model(entry for entry in functions if entry.name not in TRAIN_FUNCTIONS)
    return {
        name: _train_piece(code, aliases, users) if code else None for name, code in found.items()
    }


def _train_piece(code: list[ast.stmt], aliases: Mapping[str, str], users: frozenset[str]) -> Piece:
    kept, deletes = without_deletions(keep_tensors(code, aliases, users))
    return Piece(kept, local_names(code), deletes, code[-1].lineno)


def digests(tree: ast.Module, pieces: Mapping[str, Piece | None]) -> dict[str, str]:
    """The digest of every piece that is there."""
    aliases = import_aliases(tree)
    return {name: digest(piece, aliases) for name, piece in pieces.items() if piece}


@lru_cache(maxsize=1)
def known_pieces() -> dict[str, dict[str, str]]:
    """Piece -> digest -> what is special about that version (mostly nothing: "")."""
    known: dict[str, dict[str, str]] = json.loads(KNOWN_PIECES.read_text("utf-8"))
    return known


def manual_attention(found: dict[str, str]) -> ManualAttention:
    for name in ATTENTION:
        trait = known_pieces()[name].get(found.get(name, ""))
        if trait:
            return ManualAttention(trait)
    return ManualAttention.NEVER


def _function(
    statements: list[ast.stmt] | list[ast.FunctionDef], name: str
) -> list[ast.stmt] | None:
    found = [node for node in statements if isinstance(node, ast.FunctionDef) and node.name == name]
    return [found[-1]] if found else None


def unrecognised_pieces(
    pieces: Mapping[str, Piece | None], found: dict[str, str], path: Path
) -> list[Doubt]:
    strange = []
    for name, piece in pieces.items():
        if piece is None:
            strange.append(Doubt(Subject.PIECE, f"{path.name} has no {name}", path))
        elif found[name] not in known_pieces()[name]:
            feature = _feature(piece)
            text = f"{name} is not nanoGPT's own" + (f": {feature}" if feature else "")
            strange.append(Doubt(Subject.PIECE, text, path, piece.line))
    return strange


def _compared(train: ast.Module) -> set[ast.stmt]:
    """The statements of a train.py that are compared with its pieces."""
    functions = [node for node in nodes(train) if isinstance(node, ast.FunctionDef)]
    users = users_of_the_model(entry for entry in functions if entry.name not in TRAIN_FUNCTIONS)
    found = set(simple(_function(functions, LOADER) or []))
    for piece in (_function(functions, EVALUATION), find_loop(train)):
        if piece is not None:
            found.update(matters(piece, users, simple(piece)))
    return found


def compared_of_model(tree: ast.Module) -> set[ast.stmt]:
    """The statements of a model.py that are compared with its pieces."""
    methods = {name for names in MODEL_METHODS.values() for name in names}
    return {
        statement
        for node in nodes(tree)
        if isinstance(node, ast.FunctionDef) and node.name in methods
        for statement in simple([node])
    }


def unrecognised_statements(tree: ast.Module, path: Path, compared: set[ast.stmt]) -> list[Doubt]:
    """A doubt of the first statement that no version of nanoGPT has, and that may matter."""
    for statement in strangers(tree, known_pieces()[STATEMENTS], compared, (MODEL,)):
        source = " ".join(ast.unparse(statement).split())
        short = source if len(source) <= MOST_SOURCE else f"{source[:MOST_SOURCE]}..."
        text = f"what nanoGPT's own {path.name} does not have: {short}"
        return [Doubt(Subject.PIECE, text, path, statement.lineno)]
    return []


def routes_to_experts(piece: Piece) -> bool:
    """Whether the code of a piece speaks of experts: with them a model has other parameters."""
    source = "\n".join(map(ast.unparse, piece.statements))
    return re.search(EXPERTS, source, re.IGNORECASE) is not None


def _feature(piece: Piece) -> str | None:
    """What the code of a piece is about, where a telling word gives it away."""
    source = "\n".join(map(ast.unparse, piece.statements))
    for pattern, feature in _FEATURES:
        if re.search(pattern, source, re.IGNORECASE):
            return feature
    return None


def _unrecognised_calls(tree: ast.Module, path: Path) -> list[Doubt]:
    """What a train.py does around its loop that the replay does not know."""
    strange: dict[str, int | None] = {}  # and the line where it does so first
    for node in nodes(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else ""
        name = function.id if isinstance(function, ast.Name) else name
        if name in _UNRECOGNISED_CALLS:
            strange.setdefault(_UNRECOGNISED_CALLS[name], node.lineno)
        if name == "compile":
            for keyword in node.keywords:
                if keyword.arg in ("backend", "options"):
                    strange.setdefault(f"torch.compile({keyword.arg}=...)", node.lineno)
    if not _uses_configure_optimizers(tree):
        strange["an optimizer that configure_optimizers does not make"] = None
    return [
        Doubt(Subject.PIECE, f"not replayed: {what}", path, line) for what, line in strange.items()
    ]


def _uses_configure_optimizers(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "configure_optimizers"
        for node in nodes(tree)
    )
