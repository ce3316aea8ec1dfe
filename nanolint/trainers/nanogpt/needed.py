"""The values that the replay needs, as nanoGPT would take them; or why there are none."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from nanolint.run.capability import attention_kernel
from nanolint.run.run import NanoGptSizes, Run
from nanolint.run.settled import Layer, Project, Setting, Unresolved
from nanolint.source.python import nodes
from nanolint.source.values import Known, Unknown
from nanolint.trainers.nanogpt.keys import KEYS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.gpus.gpu import Gpu
    from nanolint.source.values import Plain

_CHOSEN = (Layer.IMPORT, Layer.LAUNCHED, Layer.FILE, Layer.OVERRIDE)  # by a config or its user
_LARGEST_FLOAT = 1e300
# Beyond these a reading would count for minutes towards numbers that no machine has. The deepest
# model that anyone has published has 126 layers, and each costs some 20 ms whenever it is read.
_LARGEST = {
    "batch_size": 10**6,
    "gradient_accumulation_steps": 10**6,
    "block_size": 10**8,
    "n_layer": 128,
    "n_head": 10**6,
    "n_embd": 10**6,
    "vocab_size": 10**8,
    "eval_iters": 10**6,
}


def needed_run(
    settings: Mapping[str, Setting],
    project: Project,
    gpu: Gpu | None,
    world_size: int,
) -> tuple[Run, tuple[Unresolved, ...]]:
    """The run that ``settings`` describe, and every reason why the replay cannot know it.

    Where there is one, what of the model is not known is None; all else has a legal value.

    An accumulation that the world size does not divide is rounded down, as ``//=`` would.
    """
    values = _Values(settings, project)
    chosen = (key for key, each in settings.items() if each.origin.layer in _CHOSEN)
    for key, script in ((key, project.elsewhere(key)) for key in chosen):
        if script is not None:
            values.refuse(key, f"only {script} has this key; pass --train-script {script}")
            break
    eval_only = values.truth("eval_only") or False
    if eval_only:  # then nothing accumulates
        accumulation = values.optional_integer("gradient_accumulation_steps", 1)
    else:
        accumulation = values.integer("gradient_accumulation_steps", 1)
    n_head, n_embd = values.size("n_head"), values.size("n_embd")
    if n_head is not None and n_embd is not None and n_embd % n_head:
        values.forbid("n_head", f"n_embd = {n_embd} is not a multiple of n_head = {n_head}")
    dtype, dropout = values.choice("dtype") or "float32", values.probability("dropout")
    batch_size, block_size = values.integer("batch_size", 1), values.integer("block_size", 1)
    n_layer, vocab_size = values.size("n_layer"), values.integer("vocab_size", 1)
    bias, compiled = values.truth("bias"), values.truth("compile") or False
    sizes = NanoGptSizes(
        n_layer,
        n_head,
        n_embd,
        dropout,
        bias,
        values.choice("init_from"),
        dialect=project.dialect,
        simulated_gpus=project.simulated_gpus if world_size == 1 else 1,
    )
    run = Run(
        batch_size=batch_size,
        gradient_accumulation_steps=accumulation,
        world_size=world_size,
        block_size=block_size,
        vocab_size=vocab_size,
        dtype=dtype,
        compile=compiled,
        device=values.text("device"),
        attention=attention_kernel(
            gpu, dtype=dtype, head_size=sizes.head_size, dropout=bool(dropout)
        ),
        eval_only=eval_only,
        eval_iters=values.evaluations(),
        max_iters=values.optional_integer("max_iters", 0),
        eval_interval=values.optional_integer("eval_interval", 1),
        grad_clip=values.optional_number("grad_clip"),
        sizes=sizes,
    )
    return run, tuple(values.unresolved)


class _Values:
    """Typed access to the settings. What is unknown or illegal is noted, so that one pass finds
    every reason."""

    def __init__(self, settings: Mapping[str, Setting], project: Project) -> None:
        self._settings = settings
        self._project = project
        self.unresolved: list[Unresolved] = []

    def refuse(self, key: str, reason: str) -> None:
        """Note why the value of ``key`` is of no use."""
        self.unresolved.append(Unresolved(key, reason))

    def forbid(self, key: str, reason: str) -> None:
        """Note what keeps any run from having the value of ``key``."""
        self.unresolved.append(Unresolved(key, reason, impossible=True))

    def integer(self, key: str, least: int) -> int:
        """An int from ``least`` on; a legal one in the place of what is none."""
        value = self.size(key, least)
        return (least or 1) if value is None else value

    def size(self, key: str, least: int = 1) -> int | None:
        """An int from ``least`` on; it is noted if the replay takes no such number."""
        found, value = self._value(key)
        if not found:
            return None
        if not _is_integer(value):
            self.forbid(key, f"must be an integer, is {_format_value(value)}")
            return None
        if value < least:
            self.forbid(key, f"must be at least {least}, is {_format_value(value)}")
            return None
        if value > _LARGEST[key]:
            most = f"at most {_LARGEST[key]:,} are supported"
            self.refuse(key, f"{_format_value(value)} is beyond every GPU: {most}")
        return value

    def truth(self, key: str) -> bool | None:
        """What ``if value:`` makes of it, as everywhere in nanoGPT: the string 'False' is true."""
        found, value = self._value(key)
        return bool(value) if found else None

    def probability(self, key: str) -> float | None:
        """A number from 0 to 1."""
        found, value = self._value(key)
        if found and isinstance(value, (int, float)) and 0 <= value <= 1:
            return float(value)
        if found:
            self.forbid(key, f"must be a number from 0 to 1, is {_format_value(value)}")
        return None

    def choice(self, key: str) -> str | None:
        """One of the few strings that nanoGPT accepts."""
        choices = KEYS[key].choices or ()
        found, value = self._value(key)
        if found and isinstance(value, str) and value in choices:
            return value
        if found and (key in self._project.open_choices or self._is_named(value)):
            self.refuse(
                key, f"{_format_value(value)} is not a value of nanoGPT's; train.py may accept it"
            )
        elif found:
            legal = ", ".join(map(repr, choices))
            self.forbid(key, f"must be one of {legal}, is {_format_value(value)}")
        return None

    def _is_named(self, value: Plain) -> bool:
        """Whether the script has this text somewhere, and so may know what to do with it."""
        tree = self._project.tree
        return tree is not None and any(
            isinstance(node, ast.Constant) and node.value == value for node in nodes(tree)
        )

    def text(self, key: str) -> str:
        """A string."""
        found, value = self._value(key)
        if found and not isinstance(value, str):
            self.forbid(key, f"must be a string, is {_format_value(value)}")
        return value if isinstance(value, str) else "cuda"

    def optional_integer(self, key: str, least: int) -> int:
        """An int, or nanoGPT's default: the replay can do without the config's."""
        for value in (self._settings[key].value, KEYS[key].default):
            if isinstance(value, Known) and _is_integer(value.value) and value.value >= least:
                return value.value
        return least

    def evaluations(self) -> int:
        """The batches of an evaluation; nanoGPT's default for a script that has no such key."""
        if isinstance(self._settings["eval_iters"].value, Unknown) and not self._is_asked():
            return self.optional_integer("eval_iters", 0)
        return self.integer("eval_iters", 0)

    def _is_asked(self) -> bool:
        return self._settings["eval_iters"].origin.layer in _CHOSEN

    def optional_number(self, key: str) -> float:
        """A finite number, or nanoGPT's default: the replay can do without the config's."""
        for value in (self._settings[key].value, KEYS[key].default):
            number = value.value if isinstance(value, Known) else None
            if isinstance(number, (int, float)) and abs(number) < _LARGEST_FLOAT:
                return float(number)
        return 0.0

    def _value(self, key: str) -> tuple[bool, Plain]:
        """Whether the value of ``key`` is known, and the value."""
        value = self._settings[key].value
        if isinstance(value, Known):
            return True, value.value
        self.refuse(key, value.reason)
        return False, None


def _is_integer(value: Plain) -> TypeGuard[int]:
    """PyTorch takes neither 64.0 nor True for a size."""
    return isinstance(value, int) and not isinstance(value, bool)


def _format_value(value: Plain) -> str:
    if isinstance(value, int) and abs(value) > 10**30:
        return "a giant integer"  # longer than Python prints
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
