"""What a training script says of its run, whoever wrote it: roles of values, files for the next."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nanolint.run.equation import Equation, LateSync
    from nanolint.run.terms import Given, Place, Term
    from nanolint.source.settings_text import Node

ANY = "*"  # what stands in a path for what only a run tells


@dataclass(frozen=True, slots=True)
class Saved:
    """What a script writes to ``name``, in which ``*`` stands for what is not known.

    ``by`` says for people which run writes it, and ``place`` where that is told: its launch line.
    """

    name: str
    contents: Node
    place: Place | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the call in ``line`` of the file ``path`` reads."""

    path: str
    line: int
    contents: Node


def meet(one: str, other: str) -> bool:
    """Whether two paths may be one: ``*/base/*/meta_*.json``, ``out/base/d12/meta_*.json``.

    A leading ``*`` is any folder, however deep.
    """
    left, right = one.split("/"), other.split("/")
    while left and right:
        first, second = left.pop(), right.pop()
        if (first == ANY and not left) or (second == ANY and not right):
            return True
        if not (fnmatchcase(first, second) or fnmatchcase(second, first)):
            return False
    return left == right == []


class Role(str, Enum):
    """The values that decide what a run takes, as the glossary of the docs names them."""

    MICRO_BATCH = "micro-batch"  # B: sequences per forward pass and process
    ACCUMULATION = "accumulation"  # forward-backward passes per optimizer step and process
    CONTEXT = "context"  # T: tokens per sequence
    LAYERS = "layers"  # L
    HEADS = "heads"  # H
    WIDTH = "width"  # C
    VOCABULARY = "vocabulary"  # V
    DTYPE = "dtype"  # autocast's data type
    COMPILE = "compile"  # whether torch.compile runs the model
    EVALUATION = "evaluation's micro-batch"  # sequences per forward pass of an evaluation


SHAPE = (Role.LAYERS, Role.WIDTH, Role.HEADS, Role.VOCABULARY)  # of the model


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """The model that is trained: its class, the file that defines it, and what it is built with.

    If its only argument is an instance of a class of the project, such as a configuration, the
    arguments are the fields of that instance. ``place`` is the call.
    """

    class_name: str
    path: Path | None
    arguments: Mapping[str, Term | NotKnown]
    place: Place


@dataclass(frozen=True, slots=True)
class Put:
    """A value that ``--set key=...`` gives the attribute ``name`` of what a parser returns: a text,
    which the parser converts, or True or False for a switch."""

    given: Given
    key: str
    name: str
    value: str | bool


@dataclass(frozen=True, slots=True)
class Described:
    """What a script does with the values that are given to it.

    ``roles`` has a term, or why there is none, for each role that was looked for; ``given`` is all
    that can be set, in the script, in what it imports, on its launch line. ``equation`` is None
    where a part of it is not known, which ``missing`` names; ``without_length`` is one that lacks
    nothing but the length of a sequence, which no batch decides. ``refused`` says in a clause each
    what the script's parser would not take of its launch line. ``trains``: a loop around
    ``backward()`` was reached. ``saved`` is the JSON that it writes, ``loaded`` what it reads of
    what another run wrote, and ``wanted`` the names of all such files; ``taken`` says in a clause
    each what is taken for them.
    ``said`` are the values put on top that decide what the other run writes, ``put`` those that
    flags take.
    """

    script: Path
    roles: Mapping[Role, Term | NotKnown]
    equation: Equation | None
    given: tuple[Given, ...] = ()
    model: BuiltModel | NotKnown = NotKnown("nanolint did not find the model that is trained")
    missing: tuple[tuple[Role, NotKnown], ...] = ()
    late_sync: LateSync | None = None
    refused: tuple[str, ...] = ()
    trains: bool = True
    saved: tuple[Saved, ...] = ()
    loaded: tuple[tuple[Place, Node], ...] = ()
    wanted: tuple[str, ...] = ()
    taken: tuple[NotKnown, ...] = ()
    said: tuple[str, ...] = ()
    put: tuple[Put, ...] = ()
    without_length: Equation | None = None

    def with_length(self, length: int) -> Described:
        """Returns this with the equation that a sequence of ``length`` tokens makes whole."""
        if self.without_length is None or not length:
            return self
        return replace(self, equation=replace(self.without_length, context=Number(length)))

    def spelled(self, key: str) -> str | None:
        """How the script itself has a key that is not a plain name: ``--batch-size``."""
        keys = (given.key for given in self.given)
        return next((e for e in keys if e != key and e.lstrip("-").replace("-", "_") == key), None)

    def value(self, role: Role) -> object:
        """The value of a role, None where it is not known."""
        found = self.roles.get(role)
        return None if found is None or isinstance(found, NotKnown) else found.value
