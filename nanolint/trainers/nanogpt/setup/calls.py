"""The calls of a script's set-up whose results are known without making them."""

from __future__ import annotations

import posixpath
from dataclasses import field
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.source.bounds import Unevaluable
from nanolint.source.operations import BUILTINS
from nanolint.source.scope import Scope, guarded
from nanolint.trainers.nanogpt.setup.things import Built, Just, Mystery, Table, Thing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.run.trust import Doubt

# What they are given, they give back with more around it, which holds no size.
WRAPPERS = frozenset(
    {
        *("torch.compile", "DDP", "DistributedDataParallel", "torch.jit.script"),
        *("torch.nn.parallel.DistributedDataParallel", "torch.nn.DataParallel", "deepcopy"),
    }
)
# Methods that give back the object that they are called on.
FLUENT = frozenset({"to", "cuda", "train", "eval", "bfloat16", "half", "float"})
_STRING_METHODS = frozenset({"startswith", "endswith", "lower", "upper", "strip"})
WORLD_VARIABLES = ("RANK", "LOCAL_RANK", "WORLD_SIZE")  # which a launcher of processes sets
_PICKLED = ("pickle.load", "pickle.loads")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a script finds around it when it is run.

    ``exists`` says whether there is a file at a path, and ``vocabulary`` what the pickle at one
    says of its ``vocab_size``; paths are as the script has them. ``doubts`` gathers what those two
    had to assume.
    """

    world_size: int
    has_bfloat16: bool
    exists: Callable[[str], Just | Mystery]
    vocabulary: Callable[[str], Just | Mystery]
    doubts: list[Doubt] = field(default_factory=list)

    def variable(self, name: str) -> str | None:
        """What the environment of the first of several processes holds; of one alone, nothing."""
        if self.world_size == 1:
            return None
        return {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": str(self.world_size)}.get(name)


def call(
    name: str, arguments: Sequence[Thing], fields: Table, line: int, at: Surroundings
) -> Thing:
    """What calling the function or class ``name`` gives."""
    first = arguments[0] if arguments else None
    last = name.rpartition(".")[2]
    if name in WRAPPERS or last in WRAPPERS:
        return first or Mystery(f"calls {name}", line)
    if last == "dict" and not arguments:
        return fields
    if name == "dict" and isinstance(first, Table):
        return Table({**first.entries, **fields.entries}, first.rest or fields.rest)
    if name in _PICKLED and isinstance(first, Built):
        return Built("pickle", first.arguments, Table(), line)
    if name == "open" and isinstance(first, Just):
        return Built("open", (first,), Table(), line)
    if name == "torch.cuda.is_available":
        return Just(value=True)
    if name == "torch.cuda.is_bf16_supported":
        return Just(at.has_bfloat16)
    if name in ("os.getenv", "os.environ.get"):
        return _variable(arguments, line, at)
    if name in ("torch.distributed.get_world_size", "dist.get_world_size"):
        return Just(at.world_size)
    plain = [each.value for each in arguments if isinstance(each, Just)]
    if len(plain) == len(arguments) and not fields.entries and fields.rest is None:
        if name == "os.path.join" and plain and all(isinstance(part, str) for part in plain):
            return Just(posixpath.join(*plain))  # type: ignore[arg-type]
        if name in ("os.path.exists", "os.path.isfile") and isinstance(plain[0], str):
            return at.exists(plain[0])
        if name in BUILTINS:
            return operation(BUILTINS[name], plain, line)
    if name in BUILTINS or name.startswith("os.path."):
        for argument in arguments:
            if isinstance(argument, Mystery):
                return argument
        return Mystery(f"calls {name} at run time", line)
    return Built(name, tuple(arguments), fields, line)


def _variable(arguments: Sequence[Thing], line: int, at: Surroundings) -> Thing:
    first = arguments[0] if arguments else None
    if not isinstance(first, Just) or not isinstance(first.value, str):
        return Mystery("reads the environment at run time", line)
    value = at.variable(first.value)
    if value is not None:
        return Just(value)
    if first.value in WORLD_VARIABLES:
        return arguments[1] if len(arguments) > 1 else Just(None)
    return Mystery(f"reads {first.value} of the environment", line)


def method(owner: Thing, name: str, arguments: Sequence[Thing], fields: Table, line: int) -> Thing:
    """What calling the method ``name`` of ``owner`` gives; a table may be changed by it."""
    if isinstance(owner, Just) and isinstance(owner.value, str) and name in _STRING_METHODS:
        plain = [each.value for each in arguments if isinstance(each, Just)]
        if len(plain) == len(arguments):
            return operation(getattr(owner.value, name), plain, line)
    if isinstance(owner, Table):
        return _table_method(owner, name, arguments, fields, line)
    if isinstance(owner, Built):
        if name in FLUENT:
            return owner
        return Mystery(f"calls {owner.callee}(...).{name}", line)
    return owner if isinstance(owner, Mystery) else Mystery(f"calls {name}", line)


def _table_method(
    owner: Table, name: str, arguments: Sequence[Thing], fields: Table, line: int
) -> Thing:
    first = arguments[0] if arguments else None
    if name == "get" and isinstance(first, Just) and isinstance(first.value, str):
        return owner.get(first.value) or (arguments[1] if len(arguments) > 1 else Just(None))
    if name == "copy":
        return Table(dict(owner.entries), owner.rest)
    if name == "update":
        owner.entries.update(fields.entries)
        if isinstance(first, Table):
            owner.entries.update(first.entries)
            owner.rest = owner.rest or first.rest
        elif first is not None:
            owner.rest = Mystery("a dictionary is filled at run time", line)
            owner.entries.clear()
    elif name in ("pop", "setdefault", "clear", "popitem"):
        owner.rest = Mystery("a dictionary is changed at run time", line)
        owner.entries.clear()
    return Mystery(f"calls {name} of a dictionary", line)


def operation(function: Callable[..., object], operands: Sequence[object], line: int) -> Thing:
    """The plain result of a function on plain values, or what it would raise."""
    try:
        return Just(guarded(Scope({}), function, *operands))
    except Unevaluable as error:
        return Mystery(error.reason, line)


def known_field(owner: Built, name: str, line: int) -> Thing:
    """The attribute ``name`` of an object: one that it was given, or one of its first argument."""
    found = owner.fields.get(name)
    if found is not None:
        return found
    first = owner.arguments[0] if owner.arguments else None
    if name == "config" and isinstance(first, (Built, Table)):
        return first
    if name == "module":  # of DistributedDataParallel
        return owner
    return Mystery(f"reads {name} of the result of {owner.callee}", line)
