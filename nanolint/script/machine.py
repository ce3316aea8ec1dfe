"""The state that the parts of a script's reading share, in addition to that of every reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from nanolint.interpreter.machine import Machine

if TYPE_CHECKING:
    import ast

    from nanolint.interpreter.counted import Noted
    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Namespace, Unknown, Value
    from nanolint.run.program import DataFile, SourceText
    from nanolint.script.lengths import Lengths
    from nanolint.script.phases import Phases
    from nanolint.script.seen import Printed, Seen
    from nanolint.script.story import Teller
    from nanolint.script.surroundings import Cards, Group, Surroundings
    from nanolint.script.weights import Checkpoint, Flags, Piece
    from nanolint.tensors.device import Device


class Loops(Protocol):
    """The loops that are being read, see ``turns.py``; ``courses`` are those that train."""

    courses: list[Any]
    stepping: set[ast.stmt]
    deciding: Any  # what is asked for by what decides something, see ``deciding.py``
    restless: set[tuple[int, Any]]
    slopes: dict[tuple[ast.stmt, str, Any], int]

    def forces(self, asked: Noted) -> None:
        """A branch is read that another answer leads to."""

    def come(self, asked: list[Noted]) -> bool:
        """Whether one of these has another answer in a turn that is not read."""
        raise NotImplementedError

    def do_nothing(self, asked: list[Noted]) -> None:
        """A branch that these answers led to left everything as it was."""

    def ends(self, node: ast.If) -> bool:
        """Whether the branch of a test ends the loop, or a loop around it, that it stands in."""
        raise NotImplementedError


class Script(Machine):
    """The state of one reading of a script.

    ``around`` is what the script finds around it, ``meta`` the device without memory. ``doubts``
    say what was left out; ``at_most`` says that an evaluation is taken for more than it may be,
    which is a doubt if the peak lies in one. ``seen`` is what trains; ``passed`` counts the
    statements that were passed over.
    """

    around: Surroundings
    meta: Device
    doubts: list[str]
    at_most: list[tuple[str, int]]
    passed: int
    taken: set[int]  # the branches that were read
    executed: set[int]  # and the statements
    evaluated: set[ast.If]  # those that only a later step takes, which were read before it
    phases: Phases
    turns: Loops
    printed: Printed
    seen: Seen
    teller: Teller  # of the story, see ``story.py``
    group: Group  # the processes
    cards: Cards
    checkpoint: Checkpoint
    flags: Flags
    dumped: dict[str, Value]  # what was written to files, by their paths
    saved: dict[str, dict[str, Piece] | None]  # and by torch.save
    lengths: Lengths  # of the texts that are read

    def another(self, program: SourceText, inputs: tuple[DataFile, ...]) -> Script:
        """The reading of another program, which finds ``inputs``."""
        raise NotImplementedError

    def text_of(self, path: Value) -> SourceText | None:
        """The file of settings at ``path``, as the program writes it."""
        raise NotImplementedError

    def trees(self) -> list[ast.Module]:
        """The modules of the project that were imported."""
        raise NotImplementedError

    def program_at(self, path: str) -> SourceText | None:
        """The project's file at ``path`` that the script runs, and which is no configurator."""
        raise NotImplementedError

    def has_names(self, beginning: str) -> bool:
        """Whether a name in the program's text has that beginning."""
        raise NotImplementedError

    def read(self) -> None:
        """Read the script, to its end or that of its last step."""
        raise NotImplementedError

    def comes_later(self, node: ast.If, frame: Frame, asked: int) -> bool:
        """Whether a branch that is not taken is the evaluation of a later step, to be read now. Its
        test asked the questions after ``asked``."""
        raise NotImplementedError

    def may_jump(self, why: Unknown) -> None:
        """A statement that was passed over may have ended the turn of the loop it stands in."""
        raise NotImplementedError

    @property
    def builds(self) -> bool:
        """Whether a module is being made."""
        raise NotImplementedError

    @property
    def counted(self) -> tuple[ast.stmt, int] | None:
        """The innermost loop over numbers that is being run, and its turn."""
        raise NotImplementedError

    @property
    def is_in_own_loop(self) -> bool:
        """Whether a loop is being run of the very function that is."""
        raise NotImplementedError

    def library(self, name: str) -> Namespace:
        """A module that nanolint itself has."""
        raise NotImplementedError
