"""What a run trains where that is not nanoGPT's own model: plain data that a tape is made from.

Both kinds say which fields of a ``Run`` their tape follows: a change of any other would give a
number about another run, so it is never tried.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.regex import lazily

if TYPE_CHECKING:
    from nanolint.run.described import Loaded
    from nanolint.run.profile import Profile
    from nanolint.source.values import Plain

# How the names of what scripts save and go on from end.
CHECKPOINTS = (".pt", ".pth", ".ckpt", ".safetensors")
# What people call them: also the folder, as "out" or "runs".
SAVED = lazily(r"ckpt|check|latest|last|best|resume|model|weight|state|snapshot|^out|^runs")
# The fields of a run that are of its batches, and of the passes of a step.
BATCH, CONTEXT, PASSES = "batch_size", "block_size", "gradient_accumulation_steps"
ALONE = "*"  # how the names begin of words of a launch line without dashes: ``*train``
SETTINGS = "settings:"  # how the name begins that a file of settings has in place of a module's


@dataclass(frozen=True, slots=True)
class SourceText:
    """A module of the project: its dotted name, its path as people see it, and its text; or a file
    of settings that the script reads, YAML or JSON, and how else it is ``named``."""

    module: str
    path: str
    text: str
    named: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FromRun:
    """An argument whose value is the run's own field of this name: ``block_size``."""

    field: str


@dataclass(frozen=True, slots=True)
class NotKnown:
    """An argument that only a run could tell: why, and where."""

    reason: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Placed:
    """A value, or one of the run, in the place of the characters from ``start`` to ``end``."""

    module: str
    start: int
    end: int
    value: Plain | FromRun


@dataclass(frozen=True, slots=True)
class DataFile:
    """Whether a script finds a file at ``path``, as it writes it, and the ``vocab_size`` in it.

    ``characters`` are those of its text, each once, ``count`` is how many it has, ``content`` the
    text itself where it is here, and ``text`` a short one that is read line by line. ``maker`` is
    the program that writes it, which finds ``inputs``.
    """

    path: str
    exists: bool
    vocabulary: int | None = None
    characters: str | None = None
    count: int | None = None
    content: str | None = None
    text: str | None = None
    maker: SourceText | None = None
    inputs: tuple[DataFile, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadScript:
    """A whole script to be read: its model, its loop, its optimizer, its evaluation.

    The first of ``modules`` is the script; the others are what it imports within the project.
    ``values`` are those that follow the run; so do ``words``, the flags of the launch line,
    ``assigned``, its words like ``train.rows=8``, ``variables``, its environment, and ``put``, the
    attributes that ``--set`` gives what a parser returns. ``vocabulary`` is the size of a tokenizer
    that only a run reads.
    ``files`` are those of its data of which something is known. ``fresh``: there is no checkpoint
    that it could go on from. ``checked``: its batch, context and passes have to be those of the
    run, or the run is in doubt. ``longest`` is the longest sequence that the model is built for, 0
    where nobody says: for a batch that cannot be read, of a context that is not known. ``bare``:
    packages that it may do without are taken for not installed. ``told`` are
    the fields of the run that its text does not say and its reading tells. ``loaded``
    is what it reads of a checkpoint that it goes on from; ``saved`` are settings in it by their
    names, where it is taken for one that a run of these settings made. ``cards`` is how many the
    machine has, None if nobody says it. ``is_module``: ``python -m`` starts it. ``is_whole``: its
    launch line is known, and has no other words. ``widest``: vocabularies that are not here are as
    large as any.
    """

    modules: tuple[SourceText, ...]
    values: tuple[Placed, ...] = ()
    words: tuple[tuple[str, Plain | FromRun | NotKnown], ...] = ()
    assigned: tuple[tuple[str, Plain | FromRun | NotKnown], ...] = ()
    variables: tuple[tuple[str, Plain | FromRun | NotKnown], ...] = ()
    put: tuple[tuple[str, Plain | FromRun | NotKnown], ...] = ()
    vocabulary: int | None = None
    files: tuple[DataFile, ...] = ()
    fresh: bool = False
    checked: bool = False
    longest: int = 0
    bare: bool = False
    told: frozenset[str] = frozenset()
    loaded: tuple[Loaded, ...] = ()
    saved: tuple[tuple[str, Plain], ...] = ()
    cards: int | None = None
    is_module: bool = False
    is_whole: bool = False
    older_transformers: str | None = None  # that a file of the project asks for, with its name
    widest: bool = False

    @property
    def follows(self) -> frozenset[str]:
        """The fields of a run that its tape follows."""
        named = (*self.words, *self.assigned, *self.variables, *self.put)
        fields = {value.field for _, value in named if isinstance(value, FromRun)}
        fields |= {each.value.field for each in self.values if isinstance(each.value, FromRun)}
        return frozenset(fields) | {"gradient_accumulation_steps"}


@dataclass(frozen=True, slots=True)
class Profiled:
    """A tape that was recorded once, as a function of the micro-batch.

    Two are the same where their ``key`` is: the digest of the file that the profile stands in.
    """

    key: str
    profile: Profile = field(compare=False, repr=False)

    @property
    def follows(self) -> frozenset[str]:
        """The fields of a run that its tape follows."""
        return frozenset({"batch_size", "gradient_accumulation_steps"})

    def covers(self, batch_size: int, micro_steps: int) -> bool:
        """Whether this micro-batch is one that it knows, with so many of them to a step."""
        return self.profile.regime(batch_size, micro_steps) is not None


Program = ReadScript | Profiled
