"""The run that a script makes, as far as its values say: the model may be unknown yet.

Of its batches a reading of the whole script tells what following its values does not.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.gpus.abilities import has_bfloat16
from nanolint.run.capability import attention_kernel
from nanolint.run.described import Role
from nanolint.run.equation import NotKnown
from nanolint.run.program import BATCH, CONTEXT, PASSES
from nanolint.run.run import Run
from nanolint.run.settled import MEMORY, THE_MODEL, Unresolved
from nanolint.settings.torch_version import NEWEST
from nanolint.trainers.script.built_model import OF_LIBRARY
from nanolint.trainers.script.passes import NO_STEP
from nanolint.trainers.script.things import TERMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.gpus.gpu import Gpu
    from nanolint.run.described import Described
    from nanolint.run.equation import Equation
    from nanolint.run.settled import Options

# What models call the longest sequence that they are built for; not here the
# max_position_embeddings of rotary tables, which are made for much longer ones than are trained on.
LENGTHS = (
    *("block_size", "context_length", "max_seq_len", "seq_len", "max_len", "context_window"),
    *("max_seq_length", "sequence_length", "seq_length", "context_size", "n_positions", "n_ctx"),
    *("max_sequence_length", "max_length", "ctx_len"),
)

# What scripts call the sizes of a batch.
SIZES = (
    *("B", "T", "batch_size", "micro_batch_size", "device_batch_size", "total_batch_size"),
    *("block_size", "seq_len", "sequence_length", "context_length", "max_seq_len", "n_ctx"),
)

WITHOUT_STEPS = "no optimizer makes a step; nanolint reads or traces a run up to its third"


def has_outline(found: Described) -> bool:
    """Whether the passes and the micro-batch are known; the context a reading can tell."""
    if found.equation is not None:
        return True
    needed = (found.roles.get(role) for role in (Role.MICRO_BATCH, Role.ACCUMULATION))
    return all(isinstance(each, TERMS) for each in needed)


def outline_of(found: Described, gpu: Gpu | None, world_size: int, options: Options) -> Run:
    """The run as far as it is known."""
    heads, width = _size(found, Role.HEADS, 0), _size(found, Role.WIDTH, 0)
    dtype = found.value(Role.DTYPE)
    dtype = dtype if dtype in ("float32", "bfloat16", "float16") else "bfloat16"
    if dtype == "bfloat16" and not has_bfloat16(gpu):
        dtype = "float16"
    equation, passes = found.equation, _size(found, Role.ACCUMULATION, 0)
    if equation is not None:
        passes = max(1, equation.number(equation.passes))
    return Run(
        batch_size=_size(found, Role.MICRO_BATCH, 0),
        gradient_accumulation_steps=passes * world_size,
        world_size=world_size,
        block_size=_size(found, Role.CONTEXT, 0),
        vocab_size=_size(found, Role.VOCABULARY, 1),
        dtype=str(dtype),
        compile=found.value(Role.COMPILE) is True,
        device="cuda",
        attention=attention_kernel(
            gpu,
            dtype=str(dtype),
            head_size=width // heads if width and heads else None,
            dropout=False,
        ),
        torch=options.torch_version or NEWEST,
        micro_batches=None if equation is None else _legal(equation),
    )


def _legal(equation: Equation) -> tuple[int, ...] | None:
    """The micro-batches that keep the tokens of a step; None where the script refuses its own."""
    if any(True for _ in equation.broken()) or equation.roundings():
        return None
    return equation.legal(equation.sequences_per_step() // equation.world)


def longest_of(found: Described) -> int:
    """The longest sequence that the model is built for, as it is told that; 0 where it is not."""
    if isinstance(found.model, NotKnown):
        return 0
    said = (found.model.arguments.get(name) for name in LENGTHS)
    sizes = (each.value for each in said if isinstance(each, TERMS))
    return next((each for each in sizes if type(each) is int and each > 0), 0)


def _size(found: Described, role: Role, otherwise: int) -> int:
    value = found.value(role)
    return value if isinstance(value, int) and value > 0 else otherwise


def of_model(found: Described) -> Unresolved:
    """Why no number can be given for the model before it is read."""
    passes = found.roles.get(Role.ACCUMULATION)
    if isinstance(passes, NotKnown) and passes.reason == NO_STEP:
        return Unresolved(MEMORY, WITHOUT_STEPS, untraced=True)
    built = found.model
    if isinstance(built, NotKnown):
        return Unresolved(MEMORY if built.reason.endswith(OF_LIBRARY) else THE_MODEL, str(built))
    name = f"{built.class_name} in {built.path.name if built.path else found.script.name}"
    return Unresolved(MEMORY, f"{name} is another network than nanoGPT's")


ROLES = {Role.MICRO_BATCH: BATCH, Role.CONTEXT: CONTEXT, Role.ACCUMULATION: PASSES}


def can_tell(found: Described) -> bool:
    """Whether a reading tells what is not known of the micro-batch and the passes."""
    passes = found.roles.get(Role.ACCUMULATION)
    return not isinstance(passes, NotKnown) or passes.reason != NO_STEP


def told_of(found: Described) -> frozenset[str]:
    """The fields of the run that only its reading tells."""
    if not can_tell(found):
        return frozenset({CONTEXT} if isinstance(found.roles.get(Role.CONTEXT), NotKnown) else ())
    return frozenset(
        key for role, key in ROLES.items() if isinstance(found.roles.get(role), NotKnown)
    )


def open_flags(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The flags for the sizes of a batch that have no value unless they are given."""
    for node in nodes:
        function = node.func if isinstance(node, ast.Call) else None
        if not isinstance(function, ast.Attribute) or function.attr != "add_argument":
            continue
        assert isinstance(node, ast.Call)
        has_value = any(
            each.arg == "default"
            and not (isinstance(each.value, ast.Constant) and each.value.value is None)
            for each in node.keywords
        )
        for each in () if has_value else node.args[:1]:
            flag = each.value if isinstance(each, ast.Constant) else None
            if isinstance(flag, str) and flag.lstrip("-").replace("-", "_") in SIZES:
                yield flag
