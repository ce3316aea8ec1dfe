"""A shell script as a tree of commands, which are words, each with its place."""

from __future__ import annotations

from typing import TypeAlias

from nanolint.frozen import dataclass


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


REDIRECTIONS = frozenset({"<<<", "<<-", "&>>", "<<", ">>", "<&", ">&", "<>", ">|", "&>", "<", ">"})


class ShellError(ValueError):
    """A text that no shell would run. Its text is one line; ``offset`` is where it goes wrong."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Literal:
    """Characters that stand for themselves, in the text from ``start`` on where that is known."""

    text: str
    quoted: bool
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Expansion:
    """A variable: ``$NAME``, ``${NAME:-default}``. ``source`` is how it is written."""

    source: str
    quoted: bool
    name: str
    operator: str = ""
    default: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``$((...))``; ``inside`` are the parts between the parentheses."""

    source: str
    inside: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Opaque:
    """What only a run tells: ``$(date)``, ``${NAME//a/b}``, ``$RANDOM``'s kind."""

    source: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Array:
    """The elements of ``NAME=(...)``."""

    words: tuple[Word, ...]


Part: TypeAlias = "Literal | Expansion | Arithmetic | Opaque | Array"


@dataclass(frozen=True, slots=True)
class Word:
    """One word, from the character ``start`` of the text up to ``end``."""

    parts: tuple[Part, ...]
    start: int
    end: int

    @property
    def plain(self) -> str | None:
        """The word where it is written without quotes and variables, as keywords are."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Literal) and not self.parts[0].quoted:
            return self.parts[0].text
        return None


@dataclass(frozen=True, slots=True)
class Operator:
    """What stands between words; a newline is one, too."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class HereDocument:
    """The lines below a command that it reads; ``quoted``: taken as they are written.

    Each line stands in the text from one of ``starts`` on.
    """

    text: str
    start: int
    quoted: bool
    starts: tuple[int, ...] = ()


Token: TypeAlias = "Word | Operator | HereDocument"
