"""A shell script as a tree of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from nanolint.launches.shell.tokens import HereDocument, Word


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its arguments, or assignments alone. ``start`` is where it stands."""

    start: int
    assignments: tuple[Word, ...]
    words: tuple[Word, ...]
    writes: tuple[Word, ...] = ()  # the files that its output goes to
    here: HereDocument | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """``first && second`` or ``first || second``."""

    first: Node
    operator: str
    second: Node


@dataclass(frozen=True, slots=True)
class Branches:
    """``if`` and ``case``: one of ``bodies`` is run, or none where ``may_skip``."""

    start: int
    what: str
    tests: tuple[Block, ...]
    bodies: tuple[Block, ...]
    may_skip: bool


@dataclass(frozen=True, slots=True)
class For:
    """``for name in words``; ``words`` are None where the loop counts or takes the arguments."""

    start: int
    name: str
    words: tuple[Word, ...] | None
    body: Block


@dataclass(frozen=True, slots=True)
class While:
    """``while`` and ``until``."""

    start: int
    test: Block
    body: Block


@dataclass(frozen=True, slots=True)
class Function:
    """A definition, which runs nothing."""

    name: str
    body: Node


@dataclass(frozen=True, slots=True)
class Group:
    """``{ ... }``, and with ``subshell`` ``( ... )`` and the parts of a pipe."""

    body: Block
    subshell: bool


Node: TypeAlias = "Command | Chain | Branches | For | While | Function | Group"
Block: TypeAlias = "tuple[Node, ...]"
